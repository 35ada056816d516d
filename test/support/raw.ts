import { connect, type Socket } from 'node:net'
import { authorizationOf, BASE } from './open-gateway.ts'

/** A response as it was on the wire. */
export interface RawAnswer {
  readonly status: number
  /** Names are in lower case. If a header is repeated, the last value is kept. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Writes bytes on a new connection. Returns all responses that arrive until the other side closes it. */
export async function speak(origin: string, bytes: string | Buffer): Promise<readonly RawAnswer[]> {
  const socket = openSocket(origin)
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  return hear(socket)
}

export function openSocket(origin: string): Socket {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  // If the gateway resets the connection, the exchange ends as with a close.
  socket.on('error', () => {})
  return socket
}

/** Returns all responses that arrive until the connection ends. */
export async function hear(socket: Socket): Promise<readonly RawAnswer[]> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return answersIn(Buffer.concat(chunks).toString('latin1'))
}

/** Returns the next bytes that arrive on a connection. */
export function nextBytes(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1')))
    socket.once('close', () => reject(new Error('the connection ended')))
  })
}

/** Returns the head of a request by the user demo, including its blank line. The request closes its connection. */
export function head(start: string, ...lines: readonly string[]): string {
  const fields = [
    `${start} HTTP/1.1`,
    'Host: gateway',
    `Authorization: ${authorizationOf('demo')}`,
    'Connection: close',
    ...lines,
  ]
  return `${fields.join('\r\n')}\r\n\r\n`
}

/** Returns a request by the user demo for a path relative to the base path. */
export function get(path: string): string {
  return head(`GET ${BASE}${path}`)
}

function answersIn(text: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = text
  while (rest.startsWith('HTTP/1.1 ')) {
    const end = rest.indexOf('\r\n\r\n')
    const [start = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(lines.map(fieldOf))
    const length = Number(headers['content-length'] ?? 0)
    const isChunked = headers['transfer-encoding'] === 'chunked'
    const body = isChunked ? rest.slice(end + 4) : rest.slice(end + 4, end + 4 + length)
    answers.push({ status: Number(start.split(' ')[1]), headers, body })
    rest = isChunked ? '' : rest.slice(end + 4 + length)
  }
  if (rest !== '') throw new Error(`no complete response: ${rest.slice(0, 200)}`)
  return answers
}

function fieldOf(line: string): [string, string] {
  const at = line.indexOf(':')
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
}
