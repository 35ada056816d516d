import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/** The options of a thread that floods a server with tokens. */
export interface FloodOptions {
  readonly port: number
  readonly path: string
  /** Header and claims of a good token. Each request adds another wrong signature. */
  readonly signed: string
  readonly signatureBytes: number
  readonly perSecond: number
  readonly seconds: number
}

export interface Flooded {
  readonly sent: number
  readonly answered: number
  /** The number of responses for each status. */
  readonly statuses: Readonly<Record<string, number>>
}

const CONNECTIONS = 256

class Connection {
  readonly statuses: Record<string, number> = {}
  sent = 0
  answered = 0
  readonly #socket: Socket

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (bytes) => {
      this.#count(bytes.toString('latin1'))
    })
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return new Connection(socket)
  }

  send(request: string): void {
    // The next request waits for the response to the last one, as with most HTTP clients.
    if (this.sent > this.answered) return
    this.sent += 1
    this.#socket.write(request)
  }

  close(): void {
    this.#socket.destroy()
  }

  #count(text: string): void {
    for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
      this.statuses[status] = (this.statuses[status] ?? 0) + 1
      this.answered += 1
    }
  }
}

async function flood(options: FloodOptions): Promise<Flooded> {
  const { perSecond, seconds, signed, signatureBytes, path } = options
  const open = Array.from({ length: CONNECTIONS }, () => Connection.open(options.port))
  const connections = await Promise.all(open)
  const head = `GET ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${signed}.`
  const startedAt = performance.now()
  let due = 0
  while (performance.now() - startedAt < seconds * 1000) {
    const until = ((performance.now() - startedAt) / 1000) * perSecond
    for (; due < until; due += 1)
      connections[due % CONNECTIONS]?.send(
        `${head}${randomBytes(signatureBytes).toString('base64url')}\r\n\r\n`,
      )
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  for (const connection of connections) connection.close()
  return summed(connections)
}

function summed(connections: readonly Connection[]): Flooded {
  const statuses: Record<string, number> = {}
  for (const connection of connections)
    for (const [status, count] of Object.entries(connection.statuses))
      statuses[status] = (statuses[status] ?? 0) + count
  return {
    sent: connections.reduce((sum, { sent }) => sum + sent, 0),
    answered: connections.reduce((sum, { answered }) => sum + answered, 0),
    statuses,
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has none
parentPort?.postMessage(await flood(workerData))
