import { close, openSync, write as writeAsync, writeSync } from 'node:fs'

/** Numbers of lines, by stream. */
export interface StreamLines {
  readonly log: number
  readonly audit: number
}

/** Listens for writes that fail and for lost lines. */
export interface Losses {
  /** Called at the first failed write, with its error. Called again only after a recovery. */
  readonly onFailure?: (reason: string) => void
  /**
   * Lines are lost if the destination accepts no lines and the maximum number of bytes already waits, or if no process reads the
   * lines any more.
   */
  readonly onLoss: (lines: StreamLines) => void
  /** Called when all waiting lines are written after a failure, with the lines lost since the failure. */
  readonly onRecovery: (lines: StreamLines) => void
}

/** The lines that a destination has accepted and not yet written. */
export interface DestinationState {
  readonly waitingBytes: number
  /** The age of the oldest waiting line. 0 if no line waits. */
  readonly oldestMs: number
  /** False after a failed write, until all waiting lines are written, and while a line waits for too long. */
  readonly isWritable: boolean
}

export interface Destination {
  readonly write: (lines: string) => void
  readonly state: () => DestinationState
  /** Reports whether the process that reads the lines can write them. By default, it can. */
  readonly setReader: (isWritable: boolean) => void
  /** Writes the waiting lines, then closes. Further lines are lost. */
  readonly end: () => void
  /** Replaces the previous listener. */
  readonly setListener: (losses: Losses) => void
}

interface DestinationOptions {
  /** A file or a descriptor. Default: standard output. */
  readonly to?: string | number
  /** The name in messages. */
  readonly name?: string
  readonly losses?: Losses
}

const STANDARD_OUTPUT = 1
const STANDARD_ERROR = 2
const MAX_WAITING_BYTES = 8 * 1024 ** 2
/** Lines are written in batches. One write per line would cost more than everything else for a cached response. */
const BATCH_BYTES = 64 * 1024
const MAX_WRITE_BYTES = 4 * BATCH_BYTES
/** Maximum time that a line waits for a batch, and the time between two attempts. */
const BATCH_MS = 100
/** A reader that accepts nothing for this time counts as a failure. */
const STALLED_MS = 10_000
/** At the exit, a reader that accepts nothing gets this time. */
const EXIT_MS = 1000
const NO_LISTENER: Losses = { onLoss: () => {}, onRecovery: () => {} }
const NO_LINES: StreamLines = { log: 0, audit: 0 }
/** The destination is busy. The next attempt may succeed. */
const BUSY: ReadonlySet<string> = new Set(['EAGAIN', 'EBUSY'])

/**
 * Opens a destination. Lines that cannot be written wait up to a bound. Further lines are dropped and counted, so a full disk does
 * not stop requests. If no process reads a pipe any more, its lines are lost immediately. The first failed write is reported on
 * standard error. At the exit, the remaining lines are written. If they cannot be written, their number is reported on standard
 * error, and the exit code is 1 if audit lines are among them.
 * @throws Error if the file cannot be opened
 */
export function openDestination({
  to = STANDARD_OUTPUT,
  name = typeof to === 'string' ? to : 'standard output',
  losses = NO_LISTENER,
}: DestinationOptions = {}): Destination {
  const descriptor = typeof to === 'number' ? to : openSync(to, 'a')
  const waiting = new LineQueue()
  let listener = losses
  let lost = NO_LINES
  let isWriting = false
  let isFailing = false
  let isReaderWritable = true
  let hasEnded = false
  const timer = setInterval(flush, BATCH_MS).unref()
  process.on('exit', finish)

  function flush(): void {
    if (isWriting) return
    if (waiting.bytes === 0) {
      if (hasEnded) release()
      return
    }
    isWriting = true
    writeAsync(descriptor, waiting.batch(), (error, written) => {
      isWriting = false
      if (error === null) succeed(written)
      else fail(reasonOf(error))
    })
  }

  function succeed(written: number): void {
    waiting.remove(written)
    if (waiting.bytes >= BATCH_BYTES || (hasEnded && waiting.bytes > 0)) return flush()
    if (waiting.bytes > 0) return
    if (isFailing || lost !== NO_LINES) {
      isFailing = false
      const before = lost
      lost = NO_LINES
      listener.onRecovery(before)
    }
    if (hasEnded) flush()
  }

  function fail(reason: string): void {
    if (BUSY.has(reason)) return
    if (!isFailing) {
      isFailing = true
      if (descriptor !== STANDARD_ERROR)
        writeAsync(STANDARD_ERROR, errorLine({ output: name, reason }, 'lines cannot be written'), ignore)
      listener.onFailure?.(reason)
    }
    if (reason === 'EPIPE') lose(waiting.takeAll())
  }

  function lose(chunks: readonly Buffer[]): void {
    const lines = linesIn(chunks)
    lost = { log: lost.log + lines.log, audit: lost.audit + lines.audit }
    if (chunks.length > 0) listener.onLoss(lines)
  }

  function oldestMs(): number {
    return waiting.oldestAtMs === null ? 0 : performance.now() - waiting.oldestAtMs
  }

  /** Writes what waits before the process exits, and reports what is lost. */
  function finish(): void {
    // An unfinished write cannot be repeated, because a part of it may have been written.
    if (isWriting && !isFailing && oldestMs() < STALLED_MS) waiting.removeBatch()
    else if (isWriting) lose(waiting.takeAll())
    const reason = writeRest(descriptor, waiting)
    lose(waiting.takeAll())
    if (lost.audit > 0) process.exitCode = 1
    if (lost.audit + lost.log === 0 || descriptor === STANDARD_ERROR) return
    const members = { output: name, reason, lostAuditLines: lost.audit, lostLogLines: lost.log }
    try {
      writeSync(
        STANDARD_ERROR,
        errorLine(members, 'lines were lost: they could not be written before the exit'),
      )
    } catch {
      // No other output is left.
    }
  }

  function release(): void {
    clearInterval(timer)
    process.off('exit', finish)
    if (descriptor !== STANDARD_OUTPUT && descriptor !== STANDARD_ERROR) close(descriptor, ignore)
  }

  return {
    write: (lines) => {
      const bytes = Buffer.from(lines)
      if (hasEnded || waiting.bytes + bytes.length > MAX_WAITING_BYTES) return lose([bytes])
      waiting.add(bytes)
      if (waiting.bytes >= BATCH_BYTES && !isFailing) flush()
    },
    state: () => {
      const ms = oldestMs()
      const isWritable = !isFailing && lost === NO_LINES && isReaderWritable && ms < STALLED_MS
      return { waitingBytes: waiting.bytes, oldestMs: ms, isWritable }
    },
    setReader: (isWritable) => {
      isReaderWritable = isWritable
    },
    end: () => {
      if (hasEnded) return
      hasEnded = true
      flush()
    },
    setListener: (by) => {
      listener = by
    },
  }
}

/** Writes until nothing waits. Returns the error that prevents it, or undefined. */
function writeRest(descriptor: number, waiting: LineQueue): string | undefined {
  const startedAtMs = performance.now()
  while (waiting.bytes > 0) {
    try {
      waiting.remove(writeSync(descriptor, waiting.batch()))
    } catch (error) {
      const reason = reasonOf(error)
      if (!BUSY.has(reason) || performance.now() - startedAtMs > EXIT_MS) return reason
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
  return undefined
}

/** Lines in the order in which they were accepted. */
class LineQueue {
  #chunks: { readonly bytes: Buffer; readonly atMs: number }[] = []
  /** Bytes of the first chunk that are already written. */
  #writtenBytes = 0
  #batchBytes = 0
  bytes = 0

  /** Null if no line waits. */
  get oldestAtMs(): number | null {
    return this.#chunks[0]?.atMs ?? null
  }

  add(bytes: Buffer): void {
    this.#chunks.push({ bytes, atMs: performance.now() })
    this.bytes += bytes.length
  }

  /** Returns the bytes of the next write. */
  batch(): Buffer {
    let length = -this.#writtenBytes
    let count = 0
    for (const { bytes } of this.#chunks) {
      if (count > 0 && length + bytes.length > MAX_WRITE_BYTES) break
      length += bytes.length
      count += 1
    }
    this.#batchBytes = length
    const chunks = this.#chunks.slice(0, count).map(({ bytes }) => bytes)
    const [first] = chunks
    if (first !== undefined) chunks[0] = first.subarray(this.#writtenBytes)
    return Buffer.concat(chunks, length)
  }

  /** Removes bytes that are written. */
  remove(written: number): void {
    this.bytes -= written
    let rest = written + this.#writtenBytes
    let count = 0
    for (const { bytes } of this.#chunks) {
      if (rest < bytes.length) break
      rest -= bytes.length
      count += 1
    }
    this.#chunks.splice(0, count)
    this.#writtenBytes = rest
  }

  /** Removes the bytes that `batch` returned last. */
  removeBatch(): void {
    this.remove(this.#batchBytes)
  }

  takeAll(): readonly Buffer[] {
    const chunks = this.#chunks.map(({ bytes }) => bytes)
    this.#chunks = []
    this.#writtenBytes = 0
    this.bytes = 0
    return chunks
  }
}

const AUDIT_MEMBER = '"stream":"audit"'

/** Counts the lines of each stream. A text of a caller in a line cannot contain the member, because its quotes are escaped. */
function linesIn(chunks: readonly Buffer[]): StreamLines {
  const lines = chunks.flatMap((chunk) => chunk.toString().split('\n')).filter((line) => line !== '')
  const audit = lines.filter((line) => line.includes(AUDIT_MEMBER)).length
  return { log: lines.length - audit, audit }
}

function errorLine(members: object, msg: string): string {
  return `${JSON.stringify({ level: 'error', time: new Date().toISOString(), ...members, msg })}\n`
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

function ignore(): void {}
