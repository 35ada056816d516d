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

type CommandArgument = string | number | Buffer

/** A command with one key at most, because a cluster has its keys on several servers. A script has one key too. */
export type RedisCommand =
  | readonly [name: 'ping']
  | readonly [name: 'pttl' | 'exists' | 'del', key: string]
  | readonly [name: 'getrange' | 'getrangeBuffer', key: string, start: number, end: number]
  | readonly [name: 'set', key: string, value: string | Buffer, unit: 'PX', ms: number]
  | readonly [name: 'set', key: string, value: string | Buffer, unit: 'PX', ms: number, condition: 'NX']
  | readonly [name: 'eval', script: string, keys: 1, key: string, ...args: CommandArgument[]]
  | readonly [name: 'publish', channel: string, message: string]

export type RedisReply = readonly [error: Error | null, value: unknown]

interface ClientEvents {
  /** Called when commands can be sent, for the first time or again. */
  readonly onReady: () => void
  readonly onClose: () => void
  readonly onError: (error: Error) => void
}

/**
 * Sends commands to the servers that store the keys. It queues nothing, and does not retry a command that a server may have
 * executed.
 */
export interface RedisClient {
  readonly isReady: () => boolean
  /** Returns the bytes read from all servers. The number changes while a response is arriving. */
  readonly bytesRead: () => number
  /**
   * Returns one reply for each command. Commands on one key are executed in order; in a cluster, commands on different keys in
   * any order.
   */
  readonly send: (commands: readonly RedisCommand[]) => Promise<readonly RedisReply[]>
  /** Returns the section `memory` of the command INFO of each server that stores keys. */
  readonly memoryReports: () => Promise<readonly string[]>
  /** Closes all connections, so that waiting commands fail, and looks up the servers of the keys again. */
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
    memoryReports: async () => [await redis.info('memory')],
    reconnect: () => endClient(redis, true),
    close: () => {
      redis.off('close', onClose)
      redis.off('end', onClose)
      close()
    },
  }
}

/** Maximum number of redirects of a command while slots move. */
const MAX_REDIRECTIONS = 5
/** Timeout of the search for nodes: several nodes may be silent, each for `CONNECT_MS`. */
const FIND_NODES_MS = 5 * CONNECT_MS
/** Pause before a retry for a slot that is moving. */
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
    // The check would wait for any node without a limit. If the cluster is down, commands report it.
    enableReadyCheck: false,
    // Zero disables retries of commands that were sent on a broken connection.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: TRY_AGAIN_MS,
    maxRedirections: MAX_REDIRECTIONS,
    slotsRefreshTimeout: CONNECT_MS,
    clusterRetryStrategy: reconnectPauseMs,
    // Keeps names, because certificates are for names and an address may change.
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
    memoryReports: () => Promise.all(masters().map((node) => node.info('memory'))),
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

/** Restarts the connection if ioredis would wait for silent nodes. Returns a function that stops this. */
function watchConnecting(cluster: Cluster, onError: (error: Error) => void): () => void {
  let timer: NodeJS.Timeout | undefined
  cluster.on('connecting', () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      onError(new Error(`no response from the cluster within ${FIND_NODES_MS} ms`))
      endClient(cluster, true)
    }, FIND_NODES_MS).unref()
  })
  cluster.on('ready', () => clearTimeout(timer))
  return () => clearTimeout(timer)
}

/** Connects the nodes. ioredis connects to a node with its first command, and rejects further commands until it is connected. */
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

async function replyTo(cluster: Cluster, [name, ...args]: RedisCommand): Promise<RedisReply> {
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
