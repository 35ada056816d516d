import { jsonValueOf, stringOf } from './value.ts'

/** Codes of the characters of the JSON syntax. */
export const CHAR = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  openingBrace: 0x7b,
  closingBrace: 0x7d,
  openingBracket: 0x5b,
  closingBracket: 0x5d,
  minus: 0x2d,
  plus: 0x2b,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  smallE: 0x65,
  largeE: 0x45,
} as const

/** Returns the position of the quotation mark that ends a string. */
export function endOfString(text: string, opening: number): number {
  const { length } = text
  for (let at = opening + 1; at < length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === CHAR.quote) return at
    if (char === CHAR.backslash) at += 1
  }
  return length
}

/** Returns the name of a member from its JSON string. */
export function nameOf(quoted: string): string {
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1)
}

/**
 * Returns the string that the engine reads if it puts quotation marks around a text and parses the result as JSON. It ignores the
 * rest of the text after a quotation mark. Null if the result is not a JSON string.
 */
export function readQuoted(text: string): string | null {
  const quoted = `"${text}"`
  const end = endOfString(quoted, 0)
  return stringOf(jsonValueOf(quoted.slice(0, end + 1)))
}

export function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09
}

/** A position in a text. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

export interface MemberText extends TextRange {
  readonly name: string
  /** Position of the value alone. */
  readonly value: TextRange
}

/** Returns the members of the object that begins there, in valid JSON. Returns no members for any other value. */
export function membersAt(text: string, start: number): readonly MemberText[] {
  const found: MemberText[] = []
  const open = skipSpace(text, start)
  if (text.charCodeAt(open) !== CHAR.openingBrace) return found
  for (let at = skipSpace(text, open + 1); text.charCodeAt(at) === CHAR.quote; ) {
    const nameEnd = endOfString(text, at) + 1
    const valueStart = skipSpace(text, text.indexOf(':', nameEnd) + 1)
    const end = endOfValue(text, valueStart)
    found.push({
      name: nameOf(text.slice(at, nameEnd)),
      start: at,
      end,
      value: { start: valueStart, end },
    })
    at = nextAfter(text, end)
  }
  return found
}

/** Returns the elements of the array that begins there, in valid JSON. Returns no elements for any other value. */
export function elementsAt(text: string, start: number): readonly TextRange[] {
  const found: TextRange[] = []
  const open = skipSpace(text, start)
  if (text.charCodeAt(open) !== CHAR.openingBracket) return found
  let at = skipSpace(text, open + 1)
  while (at < text.length && text.charCodeAt(at) !== CHAR.closingBracket) {
    const end = endOfValue(text, at)
    found.push({ start: at, end })
    at = nextAfter(text, end)
  }
  return found
}

/** Returns the position after the comma, or the end of the object or array. */
function nextAfter(text: string, end: number): number {
  const at = skipSpace(text, end)
  return text.charCodeAt(at) === CHAR.comma ? skipSpace(text, at + 1) : at
}

export function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at += 1
  return at
}

function endOfValue(text: string, start: number): number {
  const { length } = text
  let depth = 0
  for (let at = start; at < length; at += 1) {
    const char = text.charCodeAt(at)
    const isClosing = char === CHAR.closingBrace || char === CHAR.closingBracket
    if (depth === 0 && (isClosing || char === CHAR.comma || isSpace(char))) return at
    if (char === CHAR.quote) at = endOfString(text, at)
    else if (char === CHAR.openingBrace || char === CHAR.openingBracket) depth += 1
    else if (isClosing) depth -= 1
  }
  return length
}
