/** Where a row of a JSON array stands in its bytes. */
export interface Span {
  readonly start: number
  readonly end: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d])

/**
 * The elements of a JSON array as spans of its bytes, so that some can be left out without re-encoding the others:
 * numbers keep their digits. The bytes must be valid JSON. Multi-byte characters never hold one of the bytes looked for.
 */
export function spansOf(json: Buffer): readonly Span[] {
  const spans: Span[] = []
  let depth = 0
  let start = json.indexOf('[') + 1
  for (let at = start - 1; at < json.length; at += 1) {
    const byte = json[at] ?? 0
    if (byte === QUOTE) at = endOfString(json, at)
    else if (OPENING.has(byte)) depth += 1
    else if (CLOSING.has(byte)) depth -= 1
    if (depth === 1 && byte === COMMA) {
      spans.push({ start, end: at })
      start = at + 1
    }
    if (depth === 0) {
      if (json.toString('latin1', start, at).trim() !== '') spans.push({ start, end: at })
      break
    }
  }
  return spans
}

function endOfString(json: Buffer, opening: number): number {
  for (let at = opening + 1; at < json.length; at += 1) {
    if (json[at] === BACKSLASH) at += 1
    else if (json[at] === QUOTE) return at
  }
  return json.length
}

/** A JSON array of rows that are JSON already. */
export function joinRows(rows: readonly Buffer[]): Buffer {
  const pieces = rows.flatMap((row, index) => (index === 0 ? [row] : [Buffer.from(','), row]))
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')])
}
