import { isIP } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { buildConnector, errors } from 'undici'
import type { ClientTls } from '../../config/tls-types.ts'
import { messageOf } from '../../errors.ts'
import { createTlsMaterial, LEAST_VERSION, type TlsMaterial } from '../../tls/tls-material.ts'
import type { Addresses } from './addresses.ts'

export interface NodeCertificate {
  /** The end of its validity, in ms since 1970. Null if the node has presented no certificate yet. */
  endsAtMs: number | null
}

interface ConnectorOptions {
  readonly connectMs: number
  readonly tls?: ClientTls | undefined
  /** The name or address for which the node's certificate must be valid. Null without TLS. */
  readonly serverName: string | null
  /** Receives the validity of the certificate that the node presents. */
  readonly certificate: NodeCertificate
}

/**
 * Creates a connector with an exact connect timeout. Undici's own timer has a resolution of 500 ms and may be a second late (undici
 * 8.12.4, lib/util/timers.js; github.com/nodejs/undici/pull/3552). After the timeout, undici's timer frees the socket.
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
    // Timers run before pending I/O. If this process was blocked, the connection may already be open.
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
 * Creates a connector that reads the TLS files for each connection. Sessions are resumed only if the files have not changed,
 * because a new certificate authority must verify the node's certificate.
 */
function createTlsConnect(
  options: buildConnector.BuildOptions,
  { tls, serverName }: Pick<ConnectorOptions, 'tls' | 'serverName'>,
): buildConnector.connector {
  if (serverName === null) return buildConnector(options)
  // An IP address must not be sent as a server name: RFC 6066 section 3.
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
      // Node rejects the contents of the files.
      callback(error instanceof Error ? error : new Error(messageOf(error)), null)
      return
    }
    latest.connect({ ...to, servername }, callback)
  }
}

/** Stores the end of the certificate's validity. A resumed session may have no certificate. The previous value then remains. */
function readCertificate(socket: TLSSocket, certificate: NodeCertificate): void {
  const endsAtMs = Date.parse(socket.getPeerCertificate().valid_to)
  if (!Number.isNaN(endsAtMs)) certificate.endsAtMs = endsAtMs
}
