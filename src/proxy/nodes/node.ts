import { isIP } from 'node:net'
import type { buildConnector } from 'undici'
import type { ClientTls } from '../../config/tls-types.ts'
import { createAddresses, type Resolve } from './addresses.ts'
import { Concurrency } from './concurrency.ts'
import { Health, type HealthChange, type HealthOptions } from './health.ts'
import { KeepAlive } from './keep-alive.ts'
import { Latency } from './latency.ts'
import { ConnectionPool } from './connection-pool.ts'
import { createConnector, type NodeCertificate } from './connector.ts'

// Shorter than the 20 s after which Tomcat closes an idle connection, so that the gateway closes it first. A node may shorten it.
const KEEP_ALIVE_MS = 4000
const MAX_HEADER_BYTES = 16 * 1024
/** Factor of a node's connections: its limit while others are unreachable. */
const CEILING = 4
/** Connections to a host name are renewed after this time, so that they follow a changed address. */
const RENEWED_MS = 30_000

/** One node of an engine: its connections, the attempts in flight on it, and its health. */
export interface Node {
  readonly name: string
  readonly origin: string
  /** Prefix of every upstream request's path. */
  readonly prefix: string
  /** What a probe asks for. */
  readonly probePath: string
  readonly pool: ConnectionPool
  /** Opens another pool to the same node. */
  readonly openPool: (connections: number) => ConnectionPool
  readonly connect: buildConnector.connector
  /** Whose certificate it must show; null: none, without TLS. */
  readonly serverName: string | null
  /** Limit of concurrent attempts; adapts to its answers. */
  capacity: number
  /** Limit of attempts that other nodes failed to take. Those beyond its connections wait for one. */
  readonly ceiling: number
  readonly concurrency: Concurrency
  readonly weight: number
  readonly isDrained: boolean
  readonly keepAlive: KeepAlive
  readonly latency: Latency
  readonly health: Health
  inFlight: number
  /** Ejections, and changes of their reason. */
  ejections: number
  /** What it showed on its newest connection. */
  readonly certificate: NodeCertificate
  /** Deployments registered at the node, as last read. */
  registered: ReadonlySet<string>
}

export interface NodeOptions {
  /** `http://host:8080/engine-rest` */
  readonly url: string
  /** Appended to the node's base path: `/engine/{name}`, or empty. */
  readonly suffix: string
  /** Default: the engines, below the base path. */
  readonly probePath?: string | undefined
  readonly connections: number
  readonly connectMs: number
  readonly weight: number
  readonly isDrained: boolean
  readonly now: () => number
  readonly onChange: (change: HealthChange) => void
  readonly health?: HealthOptions | undefined
  /** For an `https://` node; undefined: as Node.js does by itself. */
  readonly tls?: ClientTls | undefined
  /** Default: the system's resolver. */
  readonly resolve?: Resolve | undefined
  /** Default 30 s. */
  readonly renewedMs?: number | undefined
}

export function createNode(options: NodeOptions): Node {
  const { connections, now, weight, isDrained } = options
  const { origin, pathname, hostname, protocol } = new URL(options.url)
  const basePath = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
  const certificate: NodeCertificate = { endsAtMs: null }
  const serverName = protocol === 'https:' ? (options.tls?.serverName ?? hostname) : null
  const connect = createConnector({ ...options, serverName, certificate }, createAddresses(options))
  const clientTtl = isAddress(hostname) ? null : (options.renewedMs ?? RENEWED_MS)
  const openPool = (size: number): ConnectionPool =>
    new ConnectionPool(origin, { ...poolOptions(size), connect, clientTtl })
  return {
    name: origin + basePath,
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
    keepAlive: new KeepAlive(),
    latency: new Latency(now()),
    health: new Health(options.onChange, options.health),
    inFlight: 0,
    ejections: 0,
    certificate,
    registered: new Set(),
  }
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || isIP(hostname) !== 0
}

/** The limits of every pool. */
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
