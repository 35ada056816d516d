import { type Cluster, Redis, ReplyError } from 'ioredis'

/**
 * Calls `onError` with what has gone wrong with a connection. ioredis says of sentinels only that none could be asked, or that
 * a connection to one is closed: the reason is an error of the client with which it asks, which nobody else hears.
 */
export function hearErrors(redis: Redis, onError: (error: Error) => void): void {
  let ofSentinel: Error | null = null
  redis.on('connect', () => (ofSentinel = null))
  redis.on('error', (error) => onError(isOwn(error) ? error : (ofSentinel ?? error)))
  hearSentinels(redis, (error) => (ofSentinel = error))
}

/** Of the server that stores data, and not of the search for it. */
function isOwn(error: Error): boolean {
  return 'code' in error || error instanceof ReplyError
}

/**
 * Calls `onError` with what has gone wrong with a cluster. It asks the nodes for their slots over copies of its connections,
 * whose errors nobody else hears either.
 */
export function hearClusterErrors(cluster: Cluster, onError: (error: Error) => void): void {
  let ofCopy: Error | null = null
  const hear = (error: Error): void => onError(isOwn(error) ? error : (ofCopy ?? error))
  cluster.on('ready', () => (ofCopy = null))
  cluster.on('error', (error: Error & { readonly lastNodeError?: Error }) =>
    hear(error.lastNodeError ?? error),
  )
  cluster.on('node error', hear)
  cluster.on('+node', (node: Redis) => {
    const duplicate = node.duplicate.bind(node)
    node.duplicate = (options) => {
      const copy = duplicate(options)
      copy.on('error', (error) => (ofCopy = error))
      return copy
    }
  })
}

function hearSentinels(redis: Redis, onSentinelError: (error: Error) => void): void {
  let cause: Error | null = null
  redis.on('sentinelError', (error: Error) => {
    onSentinelError(cause ?? error)
    cause = null
  })
  const connector: unknown = Reflect.get(redis, 'connector')
  const ask: unknown = Reflect.get(Object(connector), 'connectToSentinel')
  if (typeof ask !== 'function') return
  Reflect.set(Object(connector), 'connectToSentinel', (...args: readonly unknown[]) => {
    const client: unknown = Reflect.apply(ask, connector, args)
    if (client instanceof Redis) {
      const { host = '', port = 0 } = client.options
      client.on('error', (error) => {
        cause = new Error(`sentinel ${host}:${port}: ${error.message}`)
      })
    }
    return client
  })
}

/** Those that are being closed. */
const ending = new WeakSet<Redis['stream']>()

/**
 * Ends the connections of a client; `connectsAgain`: it opens others. A TLS connection that ends in the middle of its
 * handshake may fail twice, and ioredis hears the first time only: the second would end the process.
 */
export function endClient(client: Redis | Cluster, connectsAgain: boolean): void {
  const nodes = client instanceof Redis ? [client] : client.nodes('all')
  // Undefined before the first attempt to connect, whatever its type says.
  const streams = nodes.map(({ stream }): Redis['stream'] | undefined => stream)
  const open = streams.filter((stream) => stream !== undefined)
  // All that wait for one answer fail together, and each asks for this. A client that connects has the stream before, which is closed.
  const isOld = (stream: Redis['stream']): boolean => stream.destroyed && client.status !== 'ready'
  const isEnding = open.length > 0 && open.every((stream) => ending.has(stream) && !isOld(stream))
  if (connectsAgain && isEnding) return
  for (const stream of open) {
    if (!ending.has(stream)) stream.on('error', () => undefined)
    ending.add(stream)
  }
  client.disconnect(connectsAgain)
}
