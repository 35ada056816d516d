import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

/** The options of a thread that sends one request at a constant rate. */
export interface ConstantRateOptions {
  readonly port: number
  /** The head of the request, with the empty line at its end. */
  readonly request: string
  readonly perSecond: number
  readonly seconds: number
}

export interface ConstantRateResult {
  /** The time from the moment at which a request was due to its response, in milliseconds, sorted. */
  readonly waitsMs: readonly number[]
  /** The number of responses for each status. */
  readonly statuses: Readonly<Record<string, number>>
  /** The number of requests without a response at the end. */
  readonly unanswered: number
}

const CONNECTIONS = 128
/** The time for the last responses. */
const END_MS = 15_000

/** Sends a request whenever it is due. Without a free connection it waits, and the wait counts. */
class Load {
  readonly waitsMs: number[] = []
  readonly statuses: Record<string, number> = {}
  readonly #request: string
  readonly #free: Socket[] = []
  readonly #all: Socket[] = []
  /** The times at which the waiting requests were due. */
  readonly #waiting: number[] = []

  constructor(request: string) {
    this.#request = request
  }

  async open(port: number): Promise<void> {
    for (let count = 0; count < CONNECTIONS; count += 1) {
      const socket = connect(port, '127.0.0.1').setNoDelay(true)
      await once(socket, 'connect')
      this.#all.push(socket)
      this.#free.push(socket)
    }
  }

  send(dueAt: number): void {
    // In turn, because the server closes a connection without requests.
    const socket = this.#free.shift()
    if (socket === undefined) this.#waiting.push(dueAt)
    else this.#write(socket, dueAt)
  }

  close(): void {
    for (const socket of this.#all) socket.destroy()
  }

  #write(socket: Socket, dueAt: number): void {
    let text = ''
    const read = (bytes: Buffer) => {
      text += bytes.toString('latin1')
      const status = completeStatusOf(text)
      if (status === null) return
      socket.off('data', read)
      this.waitsMs.push(performance.now() - dueAt)
      this.statuses[status] = (this.statuses[status] ?? 0) + 1
      const next = this.#waiting.shift()
      if (next === undefined) this.#free.push(socket)
      else this.#write(socket, next)
    }
    socket.on('data', read)
    socket.write(this.#request)
  }
}

/** Returns the status of a complete response, or null. @throws Error if the response has no length */
function completeStatusOf(text: string): string | null {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
  if (length === undefined) throw new Error(`no length: ${text}`)
  return text.length < end + 4 + Number(length) ? null : text.slice(9, 12)
}

async function run({ port, request, perSecond, seconds }: ConstantRateOptions): Promise<ConstantRateResult> {
  const load = new Load(request)
  await load.open(port)
  const startedAt = performance.now()
  const total = perSecond * seconds
  let sent = 0
  while (sent < total) {
    const elapsedMs = performance.now() - startedAt
    for (; sent < Math.min(total, (elapsedMs / 1000) * perSecond); sent += 1)
      load.send(startedAt + (sent * 1000) / perSecond)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const endAt = performance.now() + END_MS
  while (load.waitsMs.length < total && performance.now() < endAt)
    await new Promise((resolve) => setTimeout(resolve, 10))
  load.close()
  return {
    waitsMs: load.waitsMs.toSorted((one, other) => one - other),
    statuses: load.statuses,
    unanswered: total - load.waitsMs.length,
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has none
parentPort?.postMessage(await run(workerData))
