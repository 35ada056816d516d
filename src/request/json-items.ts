import { isRecord } from './value.ts'

/** An object in a JSON array, with its position in the bytes of the array. */
export interface JsonItem {
  readonly item: Readonly<Record<string, unknown>>
  readonly start: number
  readonly end: number
}

interface Span {
  readonly start: number
  readonly end: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const END = 0x5d
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d])

/**
 * Yields the objects of a JSON array in batches of `size`, so that not all objects of a long array are in memory at once. Their
 * positions allow some to be left out without encoding the others again, so numbers keep their digits.
 * @throws SyntaxError if the bytes are not a JSON array of objects
 */
export function* itemBatches(json: Buffer, size: number): Generator<readonly JsonItem[]> {
  let batch: Span[] = []
  for (const span of spansOf(json)) {
    if (batch.length === size) {
      yield parsed(json, batch)
      batch = []
    }
    batch.push(span)
  }
  if (batch.length > 0) yield parsed(json, batch)
}

function parsed(json: Buffer, spans: readonly Span[]): readonly JsonItem[] {
  const items: unknown = JSON.parse(`[${json.toString('utf8', spans[0]?.start, spans.at(-1)?.end)}]`)
  if (!Array.isArray(items) || items.length !== spans.length) throw new SyntaxError('No array of items')
  return spans.map((span, index) => {
    const item: unknown = items[index]
    if (!isRecord(item)) throw new SyntaxError('An item that is not an object')
    return { item, ...span }
  })
}

/** Yields the elements of a JSON array. Multi-byte characters never contain one of these bytes. */
function* spansOf(json: Buffer): Generator<Span> {
  const opening = opensAt(json)
  let start = opening + 1
  for (let at = start; at < json.length; at += 1) {
    at = endOfValue(json, at)
    const byte = json[at]
    if (byte !== COMMA && byte !== END) continue
    // An empty element after a comma is not valid JSON.
    if (byte === COMMA || start > opening + 1 || !isBlank(json, start, at)) yield { start, end: at }
    start = at + 1
    if (byte === COMMA) continue
    if (isBlank(json, start, json.length)) return
    break
  }
  throw new SyntaxError('No JSON array')
}

/** Returns where the string, object or array ends that begins here. Any other value is treated as one byte. */
function endOfValue(json: Buffer, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at += 1) {
    const byte = json[at] ?? 0
    if (byte === QUOTE) at = endOfString(json, at)
    else if (OPENING.has(byte)) depth += 1
    else if (CLOSING.has(byte)) depth -= 1
    if (depth <= 0) return at
  }
  return json.length
}

function opensAt(json: Buffer): number {
  const at = json.indexOf('[')
  return at >= 0 && isBlank(json, 0, at) ? at : json.length
}

/** Whitespace of RFC 8259 section 2. */
function isBlank(json: Buffer, start: number, end: number): boolean {
  return /^[ \t\n\r]*$/.test(json.toString('latin1', start, end))
}

function endOfString(json: Buffer, opening: number): number {
  for (let at = opening + 1; at < json.length; at += 1) {
    if (json[at] === BACKSLASH) at += 1
    else if (json[at] === QUOTE) return at
  }
  return json.length
}

/** Returns a JSON array of encoded objects. */
export function joinItems(items: readonly Buffer[]): Buffer {
  const pieces = items.flatMap((item, index) => (index === 0 ? [item] : [Buffer.from(','), item]))
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')])
}
