import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls'
import type { ServerTls } from '../config/tls-types.ts'
import { messageOf } from '../errors.ts'
import { createTlsMaterial, type TlsMaterial } from './tls-material.ts'

/** Accepts connections and passes them on after the TLS handshake. */
export interface TlsListener {
  /** Listens itself, or receives accepted connections through the event `connection`. */
  readonly server: Server
  /** Returns the number of connections whose handshake has not finished. */
  readonly handshakes: () => number
  /** Resolves when no handshake is in progress. */
  readonly calm: () => Promise<void>
  /** Cuts all connections and stops watching the files. */
  readonly close: () => void
}

export interface TlsListenerOptions extends RenewalOptions {
  readonly onConnection: (socket: TLSSocket) => void
  readonly onRefused: () => void
  /** Timeout of a handshake. */
  readonly withinMs: number
}

/** The gateway supports HTTP/1.1 only. The list is for ALPN (RFC 7301). */
const PROTOCOLS = ['http/1.1']

/** Creates a TLS listener. @throws if Node.js rejects the content of the files */
export function createTlsListener(
  tls: ServerTls,
  { onConnection, onRefused, withinMs, ...renewal }: TlsListenerOptions,
): TlsListener {
  const { clients = null } = tls
  const server = createServer({
    ALPNProtocols: PROTOCOLS,
    requestCert: clients !== null,
    rejectUnauthorized: clients?.required ?? false,
    handshakeTimeout: withinMs,
    noDelay: true,
  })
  const stopRenewal = keepRenewed(server, tls, renewal)
  const open = new Set<Socket>()
  let handshakes = 0
  // Exactly one of the two events occurs for each connection (`onSocketTLSError` and `onServerSocketSecure` in
  // lib/internal/tls/wrap.js, Node 24.21).
  const onEnd = () => {
    handshakes -= 1
    if (handshakes === 0) server.emit('calm')
  }
  server.on('connection', (socket: Socket) => {
    handshakes += 1
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('secureConnection', (socket) => {
    onEnd()
    onConnection(socket)
  })
  server.on('tlsClientError', (_error, socket) => {
    onEnd()
    onRefused()
    socket.destroy()
  })
  return {
    server,
    handshakes: () => handshakes,
    calm: async () => {
      if (handshakes > 0) await once(server, 'calm')
    },
    close: () => {
      stopRenewal()
      for (const socket of open) socket.destroy()
    },
  }
}

export interface RenewalOptions {
  /**
   * Called with the problem of the files, or with null if the problem is solved. While there is a problem, the previous content
   * stays in force.
   */
  readonly onProblem: (problem: string | null) => void
  /** Called when new connections use the new content of the files. */
  readonly onRenewed: () => void
  /** Interval between reads of the files; default 2,000 ms. */
  readonly everyMs?: number
}

/**
 * Sets the certificate and key of a server from files, now and when they change. Open connections are not affected.
 * @returns a function that stops the updates. @throws if Node.js rejects the current content of the files
 */
export function keepRenewed(
  server: Pick<Server, 'setSecureContext'>,
  { cert, key, minVersion, clients = null }: ServerTls,
  { onProblem, onRenewed, everyMs = 2000 }: RenewalOptions,
): () => void {
  const files = { cert, key, ...(clients !== null && { ca: clients.ca }) }
  const current = createTlsMaterial(files, { everyMs: 0, onProblem })
  let material = current()
  const contextOf = (of: TlsMaterial): SecureContextOptions => ({ ...of, minVersion: `TLSv${minVersion}` })
  server.setSecureContext(contextOf(material))
  const timer = setInterval(() => {
    const next = current()
    if (next === material) return
    material = next
    try {
      server.setSecureContext(contextOf(next))
      onRenewed()
    } catch (error) {
      onProblem(messageOf(error))
    }
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
