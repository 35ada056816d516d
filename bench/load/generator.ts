import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'

// A process that sends requests. It reads its options from standard input, and writes the result to standard output.

export interface LoadOptions {
  readonly port: number
  /** The complete request: head, empty line and body. */
  readonly request: string
  /** `null`: each connection sends the next request when it has the response to the last one. */
  readonly perSecond: number | null
  readonly seconds: number
  readonly connections: number
  /** Whether each request opens a new connection. Only without a rate. */
  readonly isNewConnection?: boolean
}

export interface LoadResult {
  /** The number of responses. */
  readonly answered: number
  /** The number of responses for each status. */
  readonly statuses: Readonly<Record<string, number>>
  /** The number of requests without a response. */
  readonly unanswered: number
  readonly perSecond: number
  /** Percentiles of the waits in milliseconds. At a rate, a wait begins at the moment at which the request was due. */
  readonly waits: Readonly<Record<'p50' | 'p99' | 'p999' | 'max', number>>
}

/** The time for the last responses. */
const END_MS = 15_000

class Generator {
  readonly waitsMs: number[] = []
  readonly statuses: Record<string, number> = {}
  failed = 0
  readonly #options: LoadOptions
  readonly #free: Socket[] = []
  readonly #all = new Set<Socket>()
  /** The times at which the waiting requests were due. */
  readonly #waiting: number[] = []

  constructor(options: LoadOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    for (let count = 0; count < this.#options.connections; count += 1) this.#free.push(await this.#connect())
  }

  /** Sends a request that is due at this time. If no connection is free, the request waits, and the measured time includes the wait. */
  send(dueAt: number): void {
    // In turn, because the server closes a connection without requests.
    const socket = this.#free.shift()
    if (socket === undefined) this.#waiting.push(dueAt)
    else
      this.#write(socket, dueAt, () => {
        const next = this.#waiting.shift()
        this.#free.push(socket)
        if (next !== undefined) this.send(next)
      })
  }

  /** Sends requests over one connection, or over one connection each, until the time is over. */
  async repeat(untilMs: number): Promise<void> {
    let kept: Socket | undefined = this.#free.shift()
    while (performance.now() < untilMs) {
      const startedAt = performance.now()
      const socket = kept ?? (await this.#connect())
      await new Promise<void>((resolve) => this.#write(socket, startedAt, resolve))
      if (this.#options.isNewConnection !== true) kept = socket
      else {
        kept = undefined
        this.#all.delete(socket)
        socket.destroy()
      }
    }
  }

  close(): void {
    for (const socket of this.#all) socket.destroy()
  }

  async #connect(): Promise<Socket> {
    const socket = connect(this.#options.port, '127.0.0.1').setNoDelay(true)
    await once(socket, 'connect')
    socket.on('error', () => (this.failed += 1))
    this.#all.add(socket)
    return socket
  }

  #write(socket: Socket, startedAt: number, done: () => void): void {
    let read = ''
    let length: number | null = null
    const onData = (bytes: Buffer) => {
      read += bytes.toString('latin1')
      length ??= lengthOf(read)
      if (length === null || read.length < length) return
      socket.off('data', onData)
      this.waitsMs.push(performance.now() - startedAt)
      const status = read.slice(9, 12)
      this.statuses[status] = (this.statuses[status] ?? 0) + 1
      done()
    }
    socket.on('data', onData)
    socket.write(this.#options.request)
  }
}

/** Returns the length of the complete response, or null if its head is not complete. @throws Error if it has no length */
function lengthOf(response: string): number | null {
  const end = response.indexOf('\r\n\r\n')
  if (end < 0) return null
  const length = /\r\ncontent-length: (\d+)/i.exec(response.slice(0, end))?.[1]
  if (length === undefined) throw new Error(`no length: ${response.slice(0, end)}`)
  return end + 4 + Number(length)
}

async function sendAtRate(generator: Generator, perSecond: number, seconds: number): Promise<number> {
  const startedAt = performance.now()
  const total = perSecond * seconds
  let sent = 0
  while (sent < total) {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    for (; sent < Math.min(total, due); sent += 1) generator.send(startedAt + (sent * 1000) / perSecond)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const endAt = performance.now() + END_MS
  while (generator.waitsMs.length < total && performance.now() < endAt)
    await new Promise((resolve) => setTimeout(resolve, 10))
  return total
}

async function sendAtOnce(generator: Generator, { seconds, connections }: LoadOptions): Promise<void> {
  const untilMs = performance.now() + seconds * 1000
  const limit = new Promise((resolve) => setTimeout(resolve, seconds * 1000 + END_MS).unref())
  const all = Promise.all(Array.from({ length: connections }, () => generator.repeat(untilMs)))
  await Promise.race([all, limit])
}

async function run(options: LoadOptions): Promise<LoadResult> {
  const generator = new Generator(options)
  if (options.isNewConnection !== true) await generator.open()
  const startedAt = performance.now()
  let total: number | null = null
  if (options.perSecond === null) await sendAtOnce(generator, options)
  else total = await sendAtRate(generator, options.perSecond, options.seconds)
  const elapsed = (performance.now() - startedAt) / 1000
  generator.close()
  const sorted = Float64Array.from(generator.waitsMs).toSorted()
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return {
    answered: sorted.length,
    statuses: generator.statuses,
    unanswered: total === null ? generator.failed : total - sorted.length,
    perSecond: sorted.length / elapsed,
    waits: { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) },
  }
}

if (import.meta.main) {
  const result = await run(JSON.parse(await text(process.stdin)))
  process.stdout.write(JSON.stringify(result), () => process.exit())
}
