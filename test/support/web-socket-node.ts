import http from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import type { Test } from 'tap'
import { acceptOf } from '../../src/request/web-socket-handshake.ts'
import { authorizationOf } from './open-gateway.ts'
import { listenUntilEnd } from './listen-until-end.ts'

/** The example of RFC 6455 section 1.3. */
export const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
export const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

export interface WebSocketNode {
  readonly url: string
  /** The handshakes that arrived. */
  readonly handshakes: readonly http.IncomingMessage[]
  /** The requests without an upgrade that arrived. */
  readonly requests: readonly http.IncomingMessage[]
  /** The sockets of accepted handshakes. */
  readonly sockets: readonly Duplex[]
}

/**
 * Starts a server that accepts WebSockets and sends each text back. `respond` writes another response to a handshake, and returns
 * true then.
 */
export async function startWebSocketNode(
  t: Test,
  respond: (socket: Duplex, request: http.IncomingMessage) => boolean = () => false,
  echo: (socket: Duplex) => void = echoTexts,
  tls: https.ServerOptions | null = null,
): Promise<WebSocketNode> {
  const handshakes: http.IncomingMessage[] = []
  const requests: http.IncomingMessage[] = []
  const sockets: Duplex[] = []
  const onRequest: http.RequestListener = (request, response) => {
    requests.push(request)
    response.end('plain')
  }
  const server = tls === null ? http.createServer(onRequest) : https.createServer(tls, onRequest)
  server.on('upgrade', (request, socket) => {
    handshakes.push(request)
    socket.on('error', () => {})
    // As servers of WebSockets do when the other side has ended.
    socket.once('end', () => socket.end())
    if (respond(socket, request)) return
    sockets.push(socket)
    socket.write(acceptance(acceptOf(request.headers['sec-websocket-key'] ?? '')))
    echo(socket)
  })
  const { port } = new URL(await listenUntilEnd(t, server, tls !== null))
  return {
    url: tls === null ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    handshakes,
    requests,
    sockets,
  }
}

export function acceptance(accept: string, ...lines: readonly string[]): string {
  const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket']
  return `${[...head, `Sec-WebSocket-Accept: ${accept}`, ...lines].join('\r\n')}\r\n\r\n`
}

/** Returns a handshake of the user demo. */
export function handshake(path: string, ...lines: readonly string[]): string {
  const head = [
    `GET ${path} HTTP/1.1`,
    'Host: gateway',
    `Authorization: ${authorizationOf('demo')}`,
    'Connection: keep-alive, Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Key: ${KEY}`,
    'Sec-WebSocket-Version: 13',
  ]
  return `${[...head, ...lines].join('\r\n')}\r\n\r\n`
}

/** Sends each byte back. */
export function echoBytes(socket: Duplex): void {
  socket.pipe(socket)
}

/** Sends each short text frame back, without its mask. */
function echoTexts(socket: Duplex): void {
  let rest = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const length = (rest[1] ?? 0) & 0x7f
      if (rest.length < 6 + length) return
      const mask = rest.subarray(2, 6)
      const payload = rest.subarray(6, 6 + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0))
      socket.write(Buffer.concat([Buffer.from([rest[0] ?? 0, length]), payload]))
      rest = rest.subarray(6 + length)
    }
  })
}
