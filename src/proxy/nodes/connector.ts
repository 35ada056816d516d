import { isIP } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { buildConnector, errors } from 'undici'
import type { ClientTls } from '../../config/tls-types.ts'
import { messageOf } from '../../errors.ts'
import { createTlsMaterial, LEAST_VERSION, type TlsMaterial } from '../../tls/tls-material.ts'
import type { Addresses } from './addresses.ts'

export interface NodeCertificate {
  /** In ms since 1970; null: it has shown none. */
  endsAtMs: number | null
}

interface ConnectorOptions {
  readonly connectMs: number
  readonly tls?: ClientTls | undefined
  /** Whose certificate the node must show: a name or an address. Null: none, without TLS. */
  readonly serverName: string | null
  /** What the node shows is written there. */
  readonly certificate: NodeCertificate
}

/**
 * Undici's connect timer has a resolution of 500 ms and may be a second late (undici 8.12.4, lib/util/timers.js;
 * github.com/nodejs/undici/pull/3552). This one is exact; undici's then frees the socket.
 */
export function createConnector(
  { connectMs, tls, serverName, certificate }: ConnectorOptions,
  { lookup, expire }: Addresses,
): buildConnector.connector {
  const connect = createTlsConnect({ timeout: connectMs, allowH2: false, lookup }, { tls, serverName })
  return function connectWithin(options, callback) {
    let isOver = false
    const giveUp = (): void => {
      if (isOver) return
      isOver = true
      expire()
      callback(new errors.ConnectTimeoutError(`no connection within ${connectMs} ms`), null)
    }
    // Timers run before pending I/O. If this process was late, the connection may be open by now.
    const timer = setTimeout(() => setImmediate(giveUp), connectMs)
    connect(options, function connected(...outcome) {
      clearTimeout(timer)
      if (outcome[0] !== null) expire()
      else if (outcome[1] instanceof TLSSocket) readCertificate(outcome[1], certificate)
      if (!isOver) callback(...outcome)
      else outcome[1]?.destroy()
      isOver = true
    })
  }
}

/**
 * Opens connections with the files as they are then. Sessions are resumed only where the files are the same: a new authority
 * must see a certificate.
 */
function createTlsConnect(
  options: buildConnector.BuildOptions,
  { tls, serverName }: Pick<ConnectorOptions, 'tls' | 'serverName'>,
): buildConnector.connector {
  if (serverName === null) return buildConnector(options)
  // An address is no name to be sent: RFC 6066 section 3.
  const servername = isIP(serverName.replace(/^\[|\]$/g, '')) === 0 ? serverName : ''
  const read = createTlsMaterial(tls ?? {})
  const build = (material: TlsMaterial) => ({
    material,
    connect: buildConnector({
      ...options,
      secureContext: createSecureContext({ ...material, minVersion: LEAST_VERSION }),
    }),
  })
  let latest: ReturnType<typeof build> | null = null
  return function connectWithTls(to, callback) {
    const material = read()
    try {
      if (latest?.material !== material) latest = build(material)
    } catch (error) {
      // Node does not take what the files hold.
      callback(error instanceof Error ? error : new Error(messageOf(error)), null)
      return
    }
    latest.connect({ ...to, servername }, callback)
  }
}

/** A resumed session may have none to show: the one before counts. */
function readCertificate(socket: TLSSocket, certificate: NodeCertificate): void {
  const endsAtMs = Date.parse(socket.getPeerCertificate().valid_to)
  if (!Number.isNaN(endsAtMs)) certificate.endsAtMs = endsAtMs
}
