import { type Cluster, Redis, ReplyError } from 'ioredis'

/**
 * Calls `onError` with the errors of a connection. About sentinels, ioredis reports only that it could not query any, or that a
 * connection to one is closed. The reason is an error of the client that queries them, which has no other listener.
 */
export function hearErrors(redis: Redis, onError: (error: Error) => void): void {
  let ofSentinel: Error | null = null
  redis.on('connect', () => (ofSentinel = null))
  redis.on('error', (error) => onError(isOwn(error) ? error : (ofSentinel ?? error)))
  hearSentinels(redis, (error) => (ofSentinel = error))
}

/** Returns whether an error comes from the server that stores data, not from the search for it. */
function isOwn(error: Error): boolean {
  return 'code' in error || error instanceof ReplyError
}

/**
 * Calls `onError` with the errors of a cluster. ioredis asks the nodes for their slots over copies of its connections, whose
 * errors have no other listener either.
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

/** The streams that are being closed. */
const ending = new WeakSet<Redis['stream']>()

/**
 * Closes the connections of a client. If `connectsAgain` is set, the client then opens new ones. A TLS connection that ends
 * during its handshake may fail twice, and ioredis listens to the first error only: the second would end the process.
 */
export function endClient(client: Redis | Cluster, connectsAgain: boolean): void {
  const nodes = client instanceof Redis ? [client] : client.nodes('all')
  // Undefined before the first attempt to connect, although the type does not say so.
  const streams = nodes.map(({ stream }): Redis['stream'] | undefined => stream)
  const open = streams.filter((stream) => stream !== undefined)
  // All commands that wait for one response fail together, and each calls this. A client that connects still has the previous
  // stream, which is closed.
  const isOld = (stream: Redis['stream']): boolean => stream.destroyed && client.status !== 'ready'
  const isEnding = open.length > 0 && open.every((stream) => ending.has(stream) && !isOld(stream))
  if (connectsAgain && isEnding) return
  for (const stream of open) {
    if (!ending.has(stream)) stream.on('error', () => undefined)
    ending.add(stream)
  }
  client.disconnect(connectsAgain)
}
