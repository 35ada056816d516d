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
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const END_OBJECT = 0x7d

/**
 * Yields the objects of a JSON array in batches of `size`, so that not all objects of a long array are in memory at once. Their
 * positions allow some to be left out without encoding the others again, so numbers keep their digits.
 * @throws SyntaxError if the bytes are not a JSON array of objects
 */
export function* itemBatches(json: Buffer, size: number): Generator<readonly JsonItem[]> {
  const first = opensAt(json) + 1
  let batch: Span[] = []
  for (let start = first, isLast = false; !isLast; ) {
    const end = endOfElement(json, start)
    isLast = json[end] === END
    // Only the first element may be blank, in an empty array. The parser refuses all others.
    if (!isLast || start > first || !isBlank(json, start, end)) batch.push({ start, end })
    if (isLast && !isBlank(json, end + 1, json.length)) throw new SyntaxError('No JSON array')
    start = end + 1
    if (!isLast && batch.length < size) continue
    if (batch.length > 0) yield parsed(json, batch)
    batch = []
  }
}

function parsed(json: Buffer, spans: readonly Span[]): readonly JsonItem[] {
  const items: unknown = JSON.parse(`[${json.toString('utf8', spans[0]?.start, spans.at(-1)?.end)}]`)
  if (!Array.isArray(items) || items.length !== spans.length) throw new SyntaxError('No array of items')
  return spans.map(({ start, end }, index) => {
    const item: unknown = items[index]
    if (!isRecord(item)) throw new SyntaxError('An item that is not an object')
    return { item, start, end }
  })
}

/** Returns where the element of an array ends: at a comma, or at the end of the array. Multi-byte characters contain none of these bytes. */
function endOfElement(json: Buffer, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfString(json, at)
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1
    else if (depth === 0 && (byte === COMMA || byte === END)) return at
    else if (byte === END_OBJECT || byte === END) depth -= 1
  }
  throw new SyntaxError('No JSON array')
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
  if (items.length === 0) return Buffer.from('[]')
  const json = Buffer.allocUnsafe(items.reduce((bytes, { length }) => bytes + 1 + length, 1))
  let end = 0
  for (const item of items) {
    json[end] = end === 0 ? OPEN_ARRAY : COMMA
    item.copy(json, end + 1)
    end += 1 + item.length
  }
  json[end] = END
  return json
}
