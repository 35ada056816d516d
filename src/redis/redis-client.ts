import { Cluster, Command, type Redis } from 'ioredis'
import type { RedisSettings } from '../config/redis-types.ts'
import {
  accountOf,
  bytesReadOf,
  CLOSE_MS,
  CONNECT_MS,
  openConnection,
  reconnectPauseMs,
} from './connection.ts'
import { endClient, hearClusterErrors } from './connection-errors.ts'

type Argument = string | number | Buffer

/** A command that touches one key at most: in a cluster, keys lie on several servers. A script has one key too. */
export type RedisCommand =
  | readonly [name: 'ping']
  | readonly [name: 'pttl' | 'exists' | 'del', key: string]
  | readonly [name: 'getrange' | 'getrangeBuffer', key: string, start: number, end: number]
  | readonly [name: 'set', key: string, value: string | Buffer, unit: 'PX', ms: number]
  | readonly [name: 'set', key: string, value: string | Buffer, unit: 'PX', ms: number, condition: 'NX']
  | readonly [name: 'eval', script: string, keys: 1, key: string, ...args: Argument[]]
  | readonly [name: 'publish', channel: string, message: string]

export type Reply = readonly [error: Error | null, value: unknown]

interface ClientEvents {
  /** Commands can be sent, for the first time or again. */
  readonly onReady: () => void
  readonly onClose: () => void
  readonly onError: (error: Error) => void
}

/** Sends commands to whatever stores the keys. It queues nothing, and repeats nothing that a server may have done. */
export interface RedisClient {
  readonly isReady: () => boolean
  /** From all servers; changes while an answer is arriving. */
  readonly bytesRead: () => number
  /** One reply for each command. Commands on one key are done in their order; in a cluster, others in any. */
  readonly send: (commands: readonly RedisCommand[]) => Promise<readonly Reply[]>
  /** Drops all connections, which fails what waits for them, and finds out anew where the keys are. */
  readonly reconnect: () => void
  readonly close: () => void
}

export function openClient(settings: RedisSettings, events: ClientEvents): RedisClient {
  return settings.cluster === undefined
    ? openServerClient(settings, events)
    : openClusterClient(settings, settings.cluster.nodes, events)
}

function openServerClient(settings: RedisSettings, { onReady, onClose, onError }: ClientEvents): RedisClient {
  const { redis, close } = openConnection(settings, onError)
  redis.on('close', onClose)
  redis.on('end', onClose)
  redis.on('ready', onReady)
  return {
    isReady: () => redis.status === 'ready',
    bytesRead: () => bytesReadOf(redis),
    send: async (commands) => (await redis.pipeline(commands.map((command) => [...command])).exec()) ?? [],
    reconnect: () => endClient(redis, true),
    close: () => {
      redis.off('close', onClose)
      redis.off('end', onClose)
      close()
    },
  }
}

/** Further nodes that a command may be sent to, while slots move. */
const MAX_REDIRECTIONS = 5
/** For several nodes, of which each may say nothing for `CONNECT_MS`. */
const FIND_NODES_MS = 5 * CONNECT_MS
/** Of a slot that is moving. */
const TRY_AGAIN_MS = 20

function openClusterClient(
  settings: RedisSettings,
  nodes: NonNullable<RedisSettings['cluster']>['nodes'],
  { onReady, onClose, onError }: ClientEvents,
): RedisClient {
  let isReady = false
  const cluster = new Cluster([...nodes], {
    redisOptions: { ...accountOf(settings), connectTimeout: CONNECT_MS, disconnectTimeout: CLOSE_MS },
    enableOfflineQueue: false,
    // It would wait for any node for ever; where the cluster is down, commands say so.
    enableReadyCheck: false,
    // Zero: what was sent on a connection that broke is not sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: TRY_AGAIN_MS,
    maxRedirections: MAX_REDIRECTIONS,
    slotsRefreshTimeout: CONNECT_MS,
    clusterRetryStrategy: reconnectPauseMs,
    // Keeps names: certificates are for names, and an address may change.
    dnsLookup: (host, callback) => callback(null, host),
  })
  const masters = (): readonly Redis[] => cluster.nodes('master')
  hearClusterErrors(cluster, onError)
  const stopWatching = watchConnecting(cluster, onError)
  cluster.on('close', () => {
    isReady = false
    onClose()
  })
  cluster.on('ready', () => {
    void connectAll(masters()).then(() => {
      if (cluster.status !== 'ready' || isReady) return
      isReady = true
      onReady()
    })
  })
  return {
    isReady: () => isReady && cluster.status === 'ready',
    bytesRead: () => masters().reduce((sum, node) => sum + bytesReadOf(node), 0),
    send: (commands) => Promise.all(commands.map((command) => replyTo(cluster, command))),
    reconnect: () => {
      isReady = false
      endClient(cluster, true)
    },
    close: () => {
      stopWatching()
      cluster.removeAllListeners('close')
      endClient(cluster, false)
    },
  }
}

/** Begins anew where ioredis would wait for nodes that say nothing. Returns what ends that. */
function watchConnecting(cluster: Cluster, onError: (error: Error) => void): () => void {
  let timer: NodeJS.Timeout | undefined
  cluster.on('connecting', () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      onError(new Error(`no answer of the cluster within ${FIND_NODES_MS} ms`))
      endClient(cluster, true)
    }, FIND_NODES_MS).unref()
  })
  cluster.on('ready', () => clearTimeout(timer))
  return () => clearTimeout(timer)
}

/** ioredis connects to a node with its first command, and refuses further ones meanwhile. */
async function connectAll(nodes: readonly Redis[]): Promise<void> {
  const idle = nodes.filter((node) => node.status === 'wait')
  const connected = idle.map((node) => node.connect().catch(() => undefined))
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CONNECT_MS)
  })
  await Promise.race([Promise.all(connected), late])
  clearTimeout(timer)
}

async function replyTo(cluster: Cluster, [name, ...args]: RedisCommand): Promise<Reply> {
  const isBinary = name === 'getrangeBuffer'
  const command = new Command(isBinary ? 'getrange' : name, [...args], {
    replyEncoding: isBinary ? null : 'utf8',
  })
  try {
    return [null, await cluster.sendCommand(command)]
  } catch (error) {
    return [error instanceof Error ? error : new Error(String(error)), null]
  }
}
