import { isIP } from 'node:net'
import { Redis, type RedisOptions as AllRedisOptions } from 'ioredis'
import type { RedisSettings } from '../config/redis-types.ts'
import { startDeadline } from './deadline.ts'
import { endClient, hearErrors } from './connection-errors.ts'
import { tlsOptionsOf } from '../tls/tls-material.ts'

/** Timeout of the connection, and again of the handshake before the first command. */
export const CONNECT_MS = 1000
/** How long an abandoned connection may take to close. Its commands fail at this time at the latest. */
export const CLOSE_MS = 50
const LONGEST_PAUSE_MS = 2000

/** ioredis's types allow no value for `replyMapping`. */
type RedisOptions = Omit<AllRedisOptions, 'replyMapping'>

export interface RedisConnection {
  readonly redis: Redis
  /** Closes the connection. Until then, it reconnects whenever it is lost. */
  readonly close: () => void
}

/**
 * Opens a connection to the server, to the master that the sentinels name, or to one node of the cluster. After a loss, it
 * connects to the next node of the cluster. It queues nothing: a command is sent at once, or it fails. With the defaults of
 * ioredis, a command would wait for seconds while the server is unreachable. The timers of ioredis are not used where they
 * discard responses that arrived while this process was busy. Therefore each command needs `answerWithin`.
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
    // Connects only after its errors have a listener.
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

/** Returns the pause before a reconnect. `attempt` counts from 1. */
export function reconnectPauseMs(attempt: number): number {
  return Math.min(LONGEST_PAUSE_MS, 50 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2)
}

/** Returns the options for each server that stores data. */
export function accountOf({ url, username, password, tls }: RedisSettings): RedisOptions {
  const hasTls = tls !== undefined || (url !== undefined && /^rediss:/i.test(url))
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    connectTimeout: 0,
    ...(hasTls && { tls: tlsOptionsOf({ ...(url !== undefined && serverNameOf(url)), ...tls }) }),
  }
}

/** Returns the name for SNI. Node.js does not set SNI by itself, and an address is not allowed there. */
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
    // A silent sentinel must not delay the queries to the others.
    connectTimeout: CONNECT_MS,
    sentinelCommandTimeout: CONNECT_MS,
    // Limits the search to one round of all sentinels; `connectAgainAtEnd` begins the next one.
    sentinelRetryStrategy: () => null,
  }
}

/**
 * Returns the response of Redis. `bytesRead` returns the bytes received so far: a response that is still arriving is awaited.
 * @throws Error if the response does not arrive in time
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

/** Returns the bytes that were read. A stream that is not connected yet has no count. */
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
  redis.on('connect', start('no response', CONNECT_MS))
  for (const event of ['ready', 'close', 'end']) redis.on(event, () => cancel?.())
}

/**
 * Reconnects if ioredis gives up because it could not even begin to connect: no sentinel named a master, or a key does not belong
 * to its certificate. Returns a function that closes the connection permanently.
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
