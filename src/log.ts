import { pino, symbols, type DestinationStream, type Logger as PinoLogger } from 'pino'

export type Logger = PinoLogger

interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Default: `openDestination()`. */
  readonly destination?: DestinationStream
}

/** Hears of lines that are lost: the destination takes none, and as many wait for it as may. */
export interface Losses {
  readonly onLoss: (lines: number) => void
  /** All that has waited is written: how many were lost since the last time. */
  readonly onRecovery: (lines: number) => void
}

export interface Destination extends DestinationStream {
  /** Writes what waits, then closes. */
  readonly end: () => void
  /** Nobody takes its lines any more: what waits at the exit is left. */
  readonly abandon: () => void
  /** Replaces the listener before. */
  readonly hear: (losses: Losses) => void
}

interface DestinationOptions {
  /** A file or a descriptor. Default: standard output. */
  readonly to?: string | number
  readonly losses?: Losses
}

const REDACTED = '[redacted]'
/** A longer message quotes a caller's text. Room for all that libraries say, and for a stack. */
const MAX_ERROR_CHARS = 8192
const MAX_WAITING_BYTES = 8 * 1024 ** 2
/** Lines are written together: one by one they cost more than all else that is done for a cached answer. */
const BATCH_BYTES = 64 * 1024
/** The longest that a line waits for others. */
const BATCH_MS = 100
const UNHEARD: Losses = { onLoss: () => {}, onRecovery: () => {} }

/** Members whose value is a secret wherever in the line they stand. */
const SECRET_MEMBER =
  /"((?:proxy-)?authorization|(?:set-)?cookie|password(?:hash)?|passwd|secret|signing-?keys?|token|x-authorized-[a-z-]+)":(?:"(?:[^"\\]|\\.)*"|\[(?:"(?:[^"\\]|\\.)*",?)*\]|\d+)/gi
/** `redis://user:secret@host`; the authority ends at the first slash. The colon is the first: if any could be it, a run of them would take for ever. */
const URL_CREDENTIAL = /(:\/\/)[^\s/"@:]*:[^\s/"@]*@/g
const SCHEME_CREDENTIAL = /\b(basic|bearer) +[\w+/=.~-]{6,}/gi

/** One JSON object a line. Secrets are taken out of the finished line, so no member or message escapes by its depth. */
export function createLogger({ level, destination = openDestination() }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorRecordOf },
      hooks: { streamWrite: withoutSecrets },
    },
    destination,
  )
}

/** Writes members as they are, at the level `info`: nothing is redacted. */
export type WriteRecord = (record: object) => void

/**
 * For the line of every request, to the logger's destination: without a search for secrets, which costs as much as the line.
 * It is given no credentials; but its `error` may quote up to 256 characters of what the caller sent, whatever that is.
 */
export function createRecordWriter(log: Logger): WriteRecord {
  const writeLine = createLineWriter(destinationOf(log))
  return function writeRecord(record) {
    if (log.isLevelEnabled('info')) writeLine(record)
  }
}

/** Where the logger's lines go. */
export function destinationOf(log: Logger): DestinationStream | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pino's types do not say what stands behind its symbols
  return (log as unknown as Record<symbol, DestinationStream>)[symbols.streamSym]
}

/** Whatever the logger's level is. */
export function createLineWriter(stream: DestinationStream | undefined): WriteRecord {
  const isoTime = createClock()
  return function writeRecord(record) {
    stream?.write(`{"level":"info","time":"${isoTime()}",${JSON.stringify(record).slice(1)}\n`)
  }
}

/** Many lines fall into one second, and its text costs as much as a line. */
function createClock(): () => string {
  let second = ''
  let startsAtMs = 0
  return function isoTime() {
    const nowMs = Date.now()
    const ms = nowMs - startsAtMs
    if (ms >= 0 && ms < 1000) return `${second}${String(ms).padStart(3, '0')}Z`
    startsAtMs = nowMs - (nowMs % 1000)
    const text = new Date(nowMs).toISOString()
    second = text.slice(0, -'000Z'.length)
    return text
  }
}

/**
 * Lines are written together, and all of them at the exit: sonic-boom does both. Lines that cannot be written wait up to a
 * bound, then they are dropped and counted: a full disk stops no request.
 */
export function openDestination({ to = 1, losses = UNHEARD }: DestinationOptions = {}): Destination {
  let listener = losses
  let lost = 0
  let hasEnded = false
  const stream = pino.destination({
    dest: to,
    sync: false,
    minLength: BATCH_BYTES,
    periodicFlush: BATCH_MS, // which also tries again what was not taken
    maxWrite: 4 * BATCH_BYTES,
    maxLength: MAX_WAITING_BYTES,
    contentMode: 'buffer', // of waiting text it would count all bytes anew with every line: 8 µs
  })
  stream.on('drop', (bytes: Buffer) => {
    const lines = linesIn(bytes)
    lost += lines
    listener.onLoss(lines)
  })
  const flushSync = stream.flushSync.bind(stream)
  const abandon = () => {
    // At the exit it would try for ever to write to what takes nothing.
    stream.flushSync = () => undefined
  }
  let isFailing = false
  stream.removeAllListeners('error').on('error', () => {
    isFailing = true
    abandon()
  })
  stream.on('drain', () => {
    if (isFailing) stream.flushSync = flushSync
    isFailing = false
    if (lost > 0) listener.onRecovery(lost)
    lost = 0
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- in this mode it takes bytes; its types know text alone
  const write = stream.write.bind(stream) as unknown as (bytes: Buffer) => boolean
  return {
    write: (line) => {
      if (!hasEnded) write(Buffer.from(line))
    },
    end: () => {
      hasEnded = true
      stream.end()
    },
    abandon,
    hear: (by) => {
      listener = by
    },
  }
}

/** Where the logger's destination is one of these, its losses are told from now on. */
export function hearLosses(log: Logger, losses: Losses): void {
  const destination = destinationOf(log)
  if (isDestination(destination)) destination.hear(losses)
}

function isDestination(stream: DestinationStream | undefined): stream is Destination {
  return stream !== undefined && 'hear' in stream && typeof stream.hear === 'function'
}

const NEWLINE = 0x0a

function linesIn(bytes: Buffer): number {
  let lines = 0
  for (const byte of bytes) if (byte === NEWLINE) lines += 1
  return lines
}

export function withoutSecrets(line: string): string {
  return line
    .replace(SECRET_MEMBER, `"$1":"${REDACTED}"`)
    .replace(URL_CREDENTIAL, `$1${REDACTED}@`)
    .replace(SCHEME_CREDENTIAL, `$1 ${REDACTED}`)
}

// Only these members: libraries hang commands, requests and options on their errors, with the secrets in them.
function errorRecordOf(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  return {
    type: name,
    message: shortened(message),
    ...('code' in error ? { code: error.code } : {}),
    // It begins with the message.
    stack: shortened(stack),
    ...(cause instanceof Error && depth < 4 ? { cause: errorRecordOf(cause, depth + 1) } : {}),
  }
}

/** Libraries write over the members of their errors, also with what is no text. */
function shortened(text: unknown): unknown {
  return typeof text === 'string' ? text.slice(0, MAX_ERROR_CHARS) : text
}
