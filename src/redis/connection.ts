import { isIP } from 'node:net'
import { Redis, type RedisOptions as AllRedisOptions } from 'ioredis'
import type { RedisSettings } from '../config/redis-types.ts'
import { startDeadline } from './deadline.ts'
import { endClient, hearErrors } from './connection-errors.ts'
import { tlsOptionsOf } from '../tls/tls-material.ts'

/** For the connection, and again for the handshake before the first command. */
export const CONNECT_MS = 1000
/** How long an abandoned connection may take to close; its commands fail then at the latest. */
export const CLOSE_MS = 50
const LONGEST_PAUSE_MS = 2000

/** Its types allow no value for this one. */
type RedisOptions = Omit<AllRedisOptions, 'replyMapping'>

export interface RedisConnection {
  readonly redis: Redis
  /** Ends it; otherwise it connects again whenever it is lost. */
  readonly close: () => void
}

/**
 * Opens a connection to the server, to the master that the sentinels name, or to one node of the cluster, another one after
 * each loss. It queues nothing: a command is sent at once, or it fails. ioredis's defaults queue a command for seconds while
 * the server is unreachable. Its own timers are not used where they discard answers that arrived while this process was
 * busy. So each command needs `answerWithin`.
 */
export function openConnection(settings: RedisSettings, onError: (error: Error) => void): RedisConnection {
  const nodes = settings.cluster?.nodes ?? []
  let node = Math.floor(Math.random() * nodes.length)
  const options: RedisOptions = {
    ...accountOf(settings),
    ...sentinelOptionsOf(settings),
    ...nodes[node],
    disconnectTimeout: CLOSE_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    // Until its errors are heard.
    lazyConnect: true,
    retryStrategy: (attempt) => {
      node += 1
      Object.assign(redis.options, nodes[node % nodes.length])
      return reconnectPauseMs(attempt)
    },
  }
  const redis = settings.url === undefined ? new Redis(options) : new Redis(settings.url, options)
  hearErrors(redis, onError)
  watchConnecting(redis, CONNECT_MS * (1 + (settings.sentinel?.nodes.length ?? 0)))
  const close = connectAgainAtEnd(redis)
  void redis.connect().catch(() => undefined)
  return { redis, close }
}

/** Before an attempt to connect again; `attempt` counts from 1. */
export function reconnectPauseMs(attempt: number): number {
  return Math.min(LONGEST_PAUSE_MS, 50 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2)
}

/** What each server that stores data is given. */
export function accountOf({ url, username, password, tls }: RedisSettings): RedisOptions {
  const hasTls = tls !== undefined || (url !== undefined && /^rediss:/i.test(url))
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    connectTimeout: 0,
    ...(hasTls && { tls: tlsOptionsOf({ ...(url !== undefined && serverNameOf(url)), ...tls }) }),
  }
}

/** Node.js sends no SNI of itself, and none may be an address. */
function serverNameOf(url: string): { readonly serverName?: string } {
  const host = new URL(url).hostname
  return host === '' || host.startsWith('[') || isIP(host) !== 0 ? {} : { serverName: host }
}

function sentinelOptionsOf({ sentinel, database, tls }: RedisSettings): RedisOptions {
  if (sentinel === undefined) return {}
  const { nodes, master, username, password } = sentinel
  return {
    sentinels: [...nodes],
    name: master,
    db: database ?? 0,
    ...(username !== undefined && { sentinelUsername: username }),
    ...(password !== undefined && { sentinelPassword: password }),
    ...(sentinel.tls !== undefined && { sentinelTLS: tlsOptionsOf(sentinel.tls) }),
    enableTLSForSentinelMode: tls !== undefined,
    // A silent sentinel must not keep the others from being asked.
    connectTimeout: CONNECT_MS,
    sentinelCommandTimeout: CONNECT_MS,
    // One round of all sentinels; `connectAgainAtEnd` begins the next one.
    sentinelRetryStrategy: () => null,
  }
}

/**
 * The answer of Redis. `bytesRead` counts what has arrived so far: an answer that is arriving is waited for.
 * @throws Error if it does not arrive in time
 */
export function answerWithin<T>(ms: number, bytesRead: () => number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = startDeadline(ms, {
      progress: bytesRead,
      onMissed: () => reject(new Error('Command timed out')),
    })
    answer.finally(cancel).then(resolve, reject)
  })
}

/** A stream that is not connected yet has no count. */
export function bytesReadOf(redis: Redis): number {
  return redis.status === 'ready' ? redis.stream.bytesRead : 0
}

function watchConnecting(redis: Redis, connectMs: number): void {
  let cancel: (() => void) | null = null
  const start = (what: string, ms: number) => () => {
    cancel?.()
    cancel = startDeadline(ms, {
      onMissed: () => {
        redis.emit('error', new Error(`${what} within ${ms} ms`))
        endClient(redis, true)
      },
    })
  }
  redis.on('connecting', start('no connection', connectMs))
  redis.on('connect', start('no answer', CONNECT_MS))
  for (const event of ['ready', 'close', 'end']) redis.on(event, () => cancel?.())
}

/**
 * ioredis gives up where it could not even begin to connect: no sentinel named a master, or a key and its certificate do not
 * fit. Returns what ends the connection for good.
 */
function connectAgainAtEnd(redis: Redis): () => void {
  let timer: NodeJS.Timeout | null = null
  let isClosed = false
  let attempt = 0
  redis.on('ready', () => (attempt = 0))
  redis.on('end', () => {
    if (isClosed) return
    attempt += 1
    timer = setTimeout(() => void redis.connect().catch(() => undefined), reconnectPauseMs(attempt))
  })
  return () => {
    isClosed = true
    if (timer !== null) clearTimeout(timer)
    endClient(redis, false)
  }
}
