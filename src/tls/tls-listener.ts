import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls'
import type { ServerTls } from '../config/tls-types.ts'
import { messageOf } from '../errors.ts'
import { createTlsMaterial, type TlsMaterial } from './tls-material.ts'

/** Accepts connections, and hands them on when both sides have agreed on keys. */
export interface TlsListener {
  /** Listens itself, or is given connections of others by the event `connection`. */
  readonly server: Server
  /** Connections that have not got so far yet. */
  readonly handshakes: () => number
  /** Resolves when there are none. */
  readonly calm: () => Promise<void>
  /** Cuts all connections, and looks at the files no more. */
  readonly close: () => void
}

export interface TlsListenerOptions extends RenewalOptions {
  readonly onConnection: (socket: TLSSocket) => void
  readonly onRefused: () => void
  /** For a handshake. */
  readonly withinMs: number
}

/** HTTP/1.1 is all that is spoken: RFC 7301. */
const PROTOCOLS = ['http/1.1']

/** @throws if Node does not take what the files hold */
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
  // One of the two comes for each connection (`onSocketTLSError` and `onServerSocketSecure` in lib/internal/tls/wrap.js, Node 24.21).
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
  /** What is wrong with the files, or null: what was read before stays in force. */
  readonly onProblem: (problem: string | null) => void
  /** New connections use what the files hold now. */
  readonly onRenewed: () => void
  /** How often the files are looked at; default 2,000 ms. */
  readonly everyMs?: number
}

/**
 * Gives a server the certificate and key of files, now and when they change; open connections stay as they are.
 * @returns what ends it. @throws if Node does not take what the files hold now
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
