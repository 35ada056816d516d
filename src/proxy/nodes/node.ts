import { Yallist } from 'yallist'
import { isIP } from 'node:net'
import type { buildConnector } from 'undici'
import { basePathOf } from '../../config/base-path.ts'
import type { ClientTls } from '../../config/tls-types.ts'
import { createAddresses, type ResolveHost } from './addresses.ts'
import { Concurrency } from './concurrency.ts'
import { Health, type HealthChange, type HealthOptions } from './health.ts'
import { KeepAlive } from './keep-alive.ts'
import { Latency } from './latency.ts'
import { ConnectionPool } from './connection-pool.ts'
import { createConnector, type NodeCertificate } from './connector.ts'

// Tomcat closes an idle connection after 20 s. The gateway closes it earlier. A node may shorten this time.
const KEEP_ALIVE_MS = 4000
const MAX_HEADER_BYTES = 16 * 1024
/** The limit of a node for requests that failed on other nodes, as a multiple of its connections. */
const CEILING = 4
/** Connections to a host name are renewed after this time, so that a changed address is used. */
const RENEWED_MS = 30_000

/** A read that waits for the head of its response. */
export interface WaitingRead {
  /** Sends the read to another node instead. Returns false if it goes on waiting, because no other node or retry is left. */
  moveOn(): boolean
}

/** One node of an engine, with its connections, its attempts in flight and its health. */
export interface Node {
  readonly name: string
  readonly origin: string
  /** The prefix of the path of every upstream request. */
  readonly prefix: string
  /** The path that a probe requests. */
  readonly probePath: string
  readonly pool: ConnectionPool
  /** Opens another pool to the same node. */
  readonly openPool: (connections: number) => ConnectionPool
  readonly connect: buildConnector.connector
  /** The name for which the node's certificate must be valid. Null without TLS. */
  readonly serverName: string | null
  /** The limit of concurrent attempts. It adapts to the node's responses. */
  capacity: number
  /** The limit for attempts after a failure on another node. Attempts beyond the number of connections wait for a connection. */
  readonly ceiling: number
  readonly concurrency: Concurrency
  readonly weight: number
  readonly isDrained: boolean
  /** The group of the node. Null if the nodes of the engine have no groups. */
  readonly group: string | null
  readonly keepAlive: KeepAlive
  readonly latency: Latency
  readonly health: Health
  inFlight: number
  /** The reads that were sent to the node and have no response yet. A linked list, for the reason that `Queue` gives. */
  readonly waitingReads: Yallist<WaitingRead>
  /** The number of ejections and of changes of their reason. */
  ejections: number
  /** The certificate that the node presented on its newest connection. */
  readonly certificate: NodeCertificate
  /** The deployments that are registered at the node, as last read. */
  registered: ReadonlySet<string>
}

export interface NodeOptions {
  /** `http://host:8080/engine-rest` */
  readonly url: string
  /** The suffix of the node's base path: `/engine/{name}`, or empty. */
  readonly suffix: string
  /** Default: the list of engines, below the base path. */
  readonly probePath?: string | undefined
  readonly connections: number
  readonly connectMs: number
  readonly weight: number
  readonly isDrained: boolean
  readonly group: string | null
  readonly now: () => number
  readonly onChange: (change: HealthChange) => void
  readonly health?: HealthOptions | undefined
  /** The TLS settings for an `https://` node. Default: the settings of Node.js. */
  readonly tls?: ClientTls | undefined
  /** Default: the system's resolver. */
  readonly resolve?: ResolveHost | undefined
  /** How long a connection to a host name is reused. Default: 30 s. */
  readonly renewedMs?: number | undefined
}

/** Returns the name of a node in metrics, log lines and on the status page. */
export function nodeNameOf(url: string): string {
  return new URL(url).origin + basePathOf(url)
}

export function createNode(options: NodeOptions): Node {
  const { connections, now, weight, isDrained, group } = options
  const { origin, hostname, protocol } = new URL(options.url)
  const basePath = basePathOf(options.url)
  const certificate: NodeCertificate = { endsAtMs: null }
  const serverName = protocol === 'https:' ? (options.tls?.serverName ?? hostname) : null
  const connect = createConnector({ ...options, serverName, certificate }, createAddresses(options))
  const clientTtl = isAddress(hostname) ? null : (options.renewedMs ?? RENEWED_MS)
  const openPool = (size: number): ConnectionPool =>
    new ConnectionPool(origin, { ...poolOptions(size), connect, clientTtl })
  return {
    name: nodeNameOf(options.url),
    origin,
    prefix: basePath + options.suffix,
    probePath: options.probePath ?? `${basePath}/engine`,
    pool: openPool(connections),
    openPool,
    connect,
    serverName,
    capacity: connections,
    ceiling: connections * CEILING,
    concurrency: new Concurrency(connections),
    weight,
    isDrained,
    group,
    keepAlive: new KeepAlive(),
    latency: new Latency(now()),
    health: new Health(options.onChange, options.health),
    inFlight: 0,
    waitingReads: new Yallist(),
    ejections: 0,
    certificate,
    registered: new Set(),
  }
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || isIP(hostname) !== 0
}

/** Returns the limits of every pool. */
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
