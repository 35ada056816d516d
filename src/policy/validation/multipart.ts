import { setImmediate } from 'node:timers/promises'
import { type OperatorText, operatorText, GatewayError } from '../../errors.ts'
import type { HazardRule } from '../../operations/hazard-rules.ts'
import { hazard } from './hazards.ts'
import { declaresDoctype } from './xml-prolog.ts'

/** RFC 2046 5.1.1. The engine also accepts encoded words here, but other readers would then not find the parts. */
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"\\]*)"|([^\s";]+))/gi
const BOUNDARY_VALUE = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/
const NAME = /(?:^|[;\s])name\s*=\s*"?([^";\r\n]*)/gi
/**
 * The start of the value of a name, or `name*`. The character before it is only a lookbehind, because one blank may end a
 * name and begin the next.
 */
const NAME_START = /(?<=^|[;\s])name\s*(?:\*|=\s*"?)/gi
const VALUE = /^[^";\r\n]*/
const FILE_NAME = /filename\s*=/gi
/** A file name whose end every reader finds in the same place. The engine reads up to the next semicolon, including blanks and folded lines. */
const PLAIN_FILE_NAME = /filename\s*=\s*(?:"([^"\r\n]*)"|([^\s";=]+))[ \t]*(?:;|\r\n(?![ \t])|$)/i
/** Forms of a header value that the engine decodes, so that the raw text does not show the value. */
const ENCODED = /=\?|\*\s*=|\\/
/** All control characters except tab and line ends. Java trims them off a name: the engine reads `type\u0000` as `type`. */
// oxlint-disable-next-line no-control-regex -- exactly these
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
/** The engine's own limit is lower. */
const MAX_HEADER_BYTES = 10_240
const MAX_PARTS = 10_000
/** The suffixes by which the engine recognizes a model, which it reads as XML. The engine does not require a dot. */
const MODEL = /(?:bpmn|dmn|cmmn|bpmn20\.xml|dmn11\.xml|cmmn1[01]\.xml)$/i

/** Returns whether the engine reads a resource with this name as a model. */
export function isModelName(name: string): boolean {
  return MODEL.test(name)
}

/** The contents of a multipart body that the engine gives a meaning. */
export interface MultipartContent {
  /** The parts that the engine reads as models. */
  readonly models: readonly Buffer[]
  /** The names of all parts. */
  readonly names: ReadonlySet<string>
}

/**
 * Splits a buffered multipart body into its parts. Yields to the event loop at intervals.
 * @throws GatewayError GW_BAD_MULTIPART; any error that `checkDeadline` throws because the client no longer waits
 */
export async function readMultipart(
  bytes: Buffer,
  contentType: string,
  checkDeadline = (): void => undefined,
): Promise<MultipartContent> {
  const models: Buffer[] = []
  const names = new Set<string>()
  const delimiter = Buffer.from(`--${boundaryOf(contentType)}`, 'latin1')
  for await (const { headers, content } of partsOf(bytes, delimiter, new EventLoopTurns(checkDeadline))) {
    checkHeaders(headers)
    if (isModel(headers)) models.push(content())
    for (const [, name = ''] of headers.matchAll(NAME)) names.add(name.trim())
  }
  return { models, names }
}

/**
 * Checks how the engine would use the parts of a multipart body: it reads a model as XML, and builds a Java object of the class that
 * a part named `type` names. Yields to the event loop at intervals.
 * @throws GatewayError GW_HAZARD that names the rule; any error that `checkDeadline` throws
 */
export async function checkMultipart(
  { models, names }: MultipartContent,
  allowedHazards: ReadonlySet<HazardRule>,
  checkDeadline = (): void => undefined,
): Promise<void> {
  if (!allowedHazards.has('doctype')) await checkDoctypes(models, new EventLoopTurns(checkDeadline))
  const namesClass = names.has('data') && names.has('type')
  if (namesClass && !allowedHazards.has('object-type-name'))
    throw hazard('object-type-name', operatorText`the part 'type'`)
}

async function checkDoctypes(models: readonly Buffer[], turns: EventLoopTurns): Promise<void> {
  for (const model of models) {
    const turn = turns.next()
    if (turn !== null) await turn
    if (declaresDoctype(model))
      throw hazard(
        'doctype',
        operatorText`a model declares a DOCTYPE, or has an encoding that the gateway cannot read`,
      )
  }
}

function checkHeaders(headers: string): void {
  if (/multipart\//i.test(headers)) throw unreadable(operatorText`a part is itself a multipart body`)
  if (CONTROL.test(headers)) throw unreadable(operatorText`the headers of a part contain control characters`)
  if (hasEncodedName(headers)) throw unreadable(operatorText`the name of a part is encoded`)
}

interface Part {
  /** The headers as received, with one character for each byte. */
  readonly headers: string
  readonly content: () => Buffer
}

/** The approximate maximum duration of one turn of the event loop. */
const A_TURN_MS = 10

/** Yields to the event loop at intervals. */
class EventLoopTurns {
  readonly #checkDeadline: () => void
  #endsAtMs = performance.now() + A_TURN_MS

  constructor(checkDeadline: () => void) {
    this.#checkDeadline = checkDeadline
  }

  /** Returns null if the current turn has time left. */
  next(): Promise<void> | null {
    return performance.now() < this.#endsAtMs ? null : this.#wait()
  }

  async #wait(): Promise<void> {
    await setImmediate()
    this.#checkDeadline()
    this.#endsAtMs = performance.now() + A_TURN_MS
  }
}

/**
 * Yields the bytes between each two delimiters, wherever these occur. This finds more parts than any multipart reader, so
 * that a part cannot be hidden by a preamble or a line end that readers interpret differently.
 */
async function* partsOf(bytes: Buffer, delimiter: Buffer, turns: EventLoopTurns): AsyncGenerator<Part> {
  let start = await find(bytes, delimiter, 0, turns)
  if (start < 0) throw unreadable(operatorText`the boundary does not occur`)
  for (let count = 1; start >= 0; count += 1) {
    if (count > MAX_PARTS) throw unreadable(operatorText`it has too many parts`)
    const next = await find(bytes, delimiter, start + delimiter.length, turns)
    const end = next < 0 ? bytes.length : next
    // The search is limited to the part. Otherwise, it would continue to the end of the body for every part without a blank
    // line.
    const part = bytes.subarray(start, end)
    const blank = await find(part, BLANK_LINE, 0, turns)
    if (blank > MAX_HEADER_BYTES) throw unreadable(operatorText`the headers of a part are too long`)
    if (blank >= 0)
      yield {
        headers: part.toString('latin1', delimiter.length, blank),
        content: () => part.subarray(blank + BLANK_LINE.length),
      }
    start = next
  }
}

const BLANK_LINE = Buffer.from('\r\n\r\n')

/** The number of bytes that are searched at once. A search for `--b` among hyphens takes 60 ms for 1 MiB. */
const A_SEARCH_BYTES = 65_536

/** Returns the same as `bytes.indexOf`. */
async function find(bytes: Buffer, sought: Buffer, from: number, turns: EventLoopTurns): Promise<number> {
  for (let at = from; at < bytes.length; at += A_SEARCH_BYTES) {
    const turn = turns.next()
    if (turn !== null) await turn
    // A match that begins in this range may end in the next.
    const found = bytes.subarray(at, at + A_SEARCH_BYTES + sought.length - 1).indexOf(sought)
    if (found >= 0) return at + found
  }
  return -1
}

function boundaryOf(contentType: string): string {
  const [first, ...others] = [...contentType.matchAll(BOUNDARY)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
  if (first === undefined || others.length > 0) throw unreadable(operatorText`it needs exactly one boundary`)
  if (!BOUNDARY_VALUE.test(first) || first.includes('=?'))
    throw unreadable(operatorText`its boundary is not valid`)
  return first
}

/** Returns whether a name is written in a form that the engine decodes. Each character is examined once, regardless of the number of names. */
function hasEncodedName(headers: string): boolean {
  let seenTo = 0
  for (const { 0: name, index } of headers.matchAll(NAME_START)) {
    if (name.endsWith('*')) return true
    const from = index + name.length
    // This name is inside the value of another name. The rest of that value is already known to be plain.
    if (from < seenTo) continue
    const [value = ''] = VALUE.exec(headers.slice(from)) ?? []
    if (value.includes('=?') || value.includes('\\')) return true
    seenTo = from + value.length
  }
  return false
}

function isModel(headers: string): boolean {
  if (ENCODED.test(headers)) return true
  const given = headers.match(FILE_NAME)?.length ?? 0
  if (given === 0) return false
  const [, quoted, plain] = PLAIN_FILE_NAME.exec(headers) ?? []
  const fileName = quoted ?? plain
  return given > 1 || fileName === undefined || isModelName(fileName.trim())
}

function unreadable(what: OperatorText): GatewayError {
  return new GatewayError('GW_BAD_MULTIPART', {
    message: operatorText`The multipart body is not acceptable: ${what}`,
  })
}
