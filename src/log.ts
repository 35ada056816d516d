import { type Destination, type DestinationState, type Losses, openDestination } from './log-destination.ts'
import { pino, symbols, type DestinationStream, type Logger as PinoLogger } from 'pino'

export type Logger = PinoLogger

interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Default: `openDestination()`. */
  readonly destination?: DestinationStream
}

const REDACTED = '[redacted]'
/**
 * Maximum length of an error message or stack. It is enough for messages of libraries and for a stack; longer messages quote the
 * text of a caller.
 */
const MAX_ERROR_CHARS = 8192
/** Members whose value is a secret, at any depth of the line. */
const SECRET_MEMBER =
  /"((?:proxy-)?authorization|(?:set-)?cookie|password(?:hash)?|passwd|secret|signing-?keys?|token|x-authorized-[a-z-]+)":(?:"(?:[^"\\]|\\.)*"|\[(?:"(?:[^"\\]|\\.)*",?)*\]|\d+)/gi
/**
 * The credentials in a URL like `redis://user:secret@host`. The authority ends at the first slash. The user ends at the first
 * colon: if the expression allowed any colon, matching a run of colons would take too long.
 */
const URL_CREDENTIAL = /(:\/\/)[^\s/"@:]*:[^\s/"@]*@/g
const SCHEME_CREDENTIAL = /\b(basic|bearer) +[\w+/=.~-]{6,}/gi

/**
 * Creates a logger that writes one JSON object per line. Secrets are removed from the finished line, so this works at any depth
 * of a member or message.
 */
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

/** Writes the members unchanged at the level `info`. Nothing is redacted. */
export type WriteRecord = (record: object) => void

/**
 * Creates the writer for the line of each request, which uses the logger's destination. It does not search for secrets, because
 * that costs as much as the line. It receives no credentials, and its `error` is a text for operators (errors.ts), which quotes no
 * value of the request.
 */
export function createRecordWriter(log: Logger): WriteRecord {
  const writeLine = createLineWriter(destinationOf(log))
  return function writeRecord(record) {
    if (log.isLevelEnabled('info')) writeLine(record)
  }
}

/** Returns the destination of the logger's lines. */
export function destinationOf(log: Logger): DestinationStream | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pino's types do not describe the values of its symbols
  return (log as unknown as Record<symbol, DestinationStream>)[symbols.streamSym]
}

/** Creates a writer that does not depend on the logger's level. `seal` may add members to the end of each line. */
export function createLineWriter(
  stream: DestinationStream | undefined,
  seal: (line: string) => string = (line) => line,
): WriteRecord {
  const isoTime = createClock()
  return function writeRecord(record) {
    stream?.write(`${seal(`{"level":"info","time":"${isoTime()}",${JSON.stringify(record).slice(1)}`)}\n`)
  }
}

/** Creates a clock that formats each second once. Many lines have the same second, and formatting it costs as much as a line. */
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

/** Sets the listener for lost lines, if the logger's destination supports it. */
export function setLossListener(log: Logger, losses: Losses): void {
  const destination = destinationOf(log)
  if (isDestination(destination)) destination.setListener(losses)
}

/** Reports whether the process that reads the logger's lines can write them. */
export function setLogReader(log: Logger, isWritable: boolean): void {
  const destination = destinationOf(log)
  if (isDestination(destination)) destination.setReader(isWritable)
}

/** Returns the lines that wait at the logger's destination. A destination of another kind is always writable. */
export function logStateOf(log: Logger): DestinationState {
  const destination = destinationOf(log)
  return isDestination(destination) ? destination.state() : WRITABLE
}

const WRITABLE: DestinationState = { waitingBytes: 0, oldestMs: 0, isWritable: true }

function isDestination(stream: DestinationStream | undefined): stream is Destination {
  return stream !== undefined && 'setListener' in stream && typeof stream.setListener === 'function'
}

export function withoutSecrets(line: string): string {
  return line
    .replace(SECRET_MEMBER, `"$1":"${REDACTED}"`)
    .replace(URL_CREDENTIAL, `$1${REDACTED}@`)
    .replace(SCHEME_CREDENTIAL, `$1 ${REDACTED}`)
}

// Returns only these members, because libraries attach commands, requests and options to their errors, with their secrets.
function errorRecordOf(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  return {
    type: name,
    message: shortened(message),
    ...('code' in error ? { code: error.code } : {}),
    // The stack begins with the message.
    stack: shortened(stack),
    ...(cause instanceof Error && depth < 4 ? { cause: errorRecordOf(cause, depth + 1) } : {}),
  }
}

/** Shortens a text. Libraries overwrite the members of their errors, sometimes with other types. */
function shortened(text: unknown): unknown {
  return typeof text === 'string' ? text.slice(0, MAX_ERROR_CHARS) : text
}
