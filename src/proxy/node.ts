import { buildConnector, errors, Pool } from 'undici'

// Below the 20 s after which Tomcat drops an idle connection, so that we are the one who closes; a node may shorten it.
const KEEP_ALIVE_MS = 4000
const MAX_HEADER_BYTES = 16 * 1024

/** One node of an engine: its connections, and how many attempts are under way on it. */
export interface Node {
  readonly name: string
  readonly origin: string
  /** Put before every hop's path. */
  readonly prefix: string
  readonly pool: Pool
  /** Attempts the node holds at once, those that wait for a connection included. */
  readonly capacity: number
  inFlight: number
}

export interface NodeOptions {
  /** `http://host:8080/engine-rest` */
  readonly url: string
  /** Follows the node's base path: `/engine/{name}`, or empty. */
  readonly suffix: string
  readonly connections: number
  /** Attempts that may wait for a connection; more than that go to another node or are refused. */
  readonly waiting: number
  readonly connectMs: number
}

export function createNode(options: NodeOptions): Node {
  const { origin, pathname } = new URL(options.url)
  const basePath = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
  return {
    name: origin + basePath,
    origin,
    prefix: basePath + options.suffix,
    pool: new Pool(origin, {
      ...poolOptions(options.connections),
      connect: createConnector(options.connectMs),
    }),
    capacity: options.connections + options.waiting,
    inFlight: 0,
  }
}

/** The bounds of every pool. */
export function poolOptions(connections: number) {
  return {
    connections,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    keepAliveTimeoutThreshold: 1000,
  }
}

/** Undici's own connect timer ticks every half second and may be a second late; this one is exact, undici's then frees the socket. */
function createConnector(connectMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: connectMs, allowH2: false })
  return function connectWithin(options, callback) {
    let isOver = false
    const timer = setTimeout(function expire() {
      isOver = true
      callback(new errors.ConnectTimeoutError(`no connection within ${connectMs} ms`), null)
    }, connectMs)
    connect(options, function connected(...outcome) {
      clearTimeout(timer)
      if (!isOver) callback(...outcome)
      else outcome[1]?.destroy()
      isOver = true
    })
  }
}
