import { connect, type Socket } from 'node:net'
import { authorizationOf, BASE } from './open-gateway.ts'

/** An answer as it stood on the wire. */
export interface RawAnswer {
  readonly status: number
  /** Lower-case names; of a repeated one the last. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Writes bytes on a connection of their own; every answer that comes until the other side closes it. */
export async function speak(origin: string, bytes: string | Buffer): Promise<readonly RawAnswer[]> {
  const socket = openSocket(origin)
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  return hear(socket)
}

export function openSocket(origin: string): Socket {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  // A reset by a gateway that has had enough ends the exchange as a close does.
  socket.on('error', () => {})
  return socket
}

/** Every answer that comes until the connection ends. */
export async function hear(socket: Socket): Promise<readonly RawAnswer[]> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return answersIn(Buffer.concat(chunks).toString('latin1'))
}

/** What comes next on a connection. */
export function nextBytes(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1')))
    socket.once('close', () => reject(new Error('the connection ended')))
  })
}

/** The head of a request of demo's that closes its connection, with its blank line. */
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

/** A request of demo's for a path below the base. */
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
  if (rest !== '') throw new Error(`no answer: ${rest.slice(0, 200)}`)
  return answers
}

function fieldOf(line: string): [string, string] {
  const at = line.indexOf(':')
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
}
