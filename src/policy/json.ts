import { isUtf8 } from 'node:buffer'
import { createScanner, type JSONScanner } from 'jsonc-parser'
import { GatewayError } from '../errors.ts'

/** jsonc-parser's token kinds: its own `SyntaxKind` is a const enum, which cannot be imported here. */
const KIND = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  colon: 6,
  string: 10,
  number: 11,
  end: 17,
}

/** The engine's JSON reader answers 500 beyond these (Jackson's StreamReadConstraints). */
const MAX_DEPTH = 1000
const MAX_NAME_CHARS = 50_000
const MAX_NUMBER_DIGITS = 1000

/**
 * A strict parsed copy to look at: the bytes themselves are what is forwarded. Everything that two readers could take
 * differently is refused. A UTF-8 byte order mark is skipped, as the engine skips it.
 * @throws GatewayError GW_BAD_JSON
 */
export function readJson(bytes: Buffer): unknown {
  const text = textOf(bytes)
  const value = plainValueOf(text) ?? checkedValueOf(text)
  if (value === null) throw refusal('it is null')
  return value
}

/** So short that neither its depth nor a name or number in it can be too much for the engine. */
const MAX_PLAIN_CHARS = 2 * MAX_DEPTH

/**
 * The value of a short text that stands as `JSON.stringify` writes it: that says nothing twice and nothing in a way that
 * two readers could take differently. So libraries write, and it takes two thirds of the time. Undefined: look closer.
 */
function plainValueOf(text: string): unknown {
  if (text.length > MAX_PLAIN_CHARS || text.includes('"__proto__"')) return undefined
  const value = parse(text)
  return JSON.stringify(value) === text ? value : undefined
}

function checkedValueOf(text: string): unknown {
  checkTokens(text) // before parsing: a million brackets cost 0.1 s to parse
  return PERHAPS_OTHER.test(text) ? valueWithNumerals(text) : parse(text)
}

/** All numbers that JavaScript may print in another way: fractions, exponents, more digits than it counts, and -0. */
const PERHAPS_OTHER = /\d[.eE]|\d{16}|-0/

/** Of numbers that it does print in another way, by their object and name: how they were written. */
const NUMERALS = new WeakMap<object, Map<string, string>>()

/** The digits of a number in a body that `readJson` has read: where the engine wants a text it takes them as they stand, `1.0` or `1e3`. */
export function numeralOf(holder: object, name: string): string {
  return NUMERALS.get(holder)?.get(name) ?? String(Reflect.get(holder, name))
}

/** A part of a body as it is to be written again: numbers with the digits that they had. */
export function withNumerals(holder: object, name: string): unknown {
  const value: unknown = Reflect.get(holder, name)
  if (typeof value === 'number') return rawJson(numeralOf(holder, name))
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((_, index) => withNumerals(value, `${index}`))
  return Object.fromEntries(Object.keys(value).map((key) => [key, withNumerals(value, key)]))
}

/** What `JSON.stringify` writes as it is (ECMAScript 2026, not yet in TypeScript). */
function rawJson(text: string): unknown {
  const raw: unknown = Reflect.get(JSON, 'rawJSON')
  // In its place a rounded number would be asked about.
  if (typeof raw !== 'function') throw new Error('This Node has no JSON.rawJSON')
  return raw(text)
}

/** Bodies with such numbers in them. */
const WITH_NUMERALS = new WeakSet<object>()

/**
 * Whether a body that `readJson` has read holds a number of which the copy does not show how it is written. The engine
 * takes `1` for a flag or a date and refuses `1.0`, and its messages show the digits as they stand.
 */
export function hasNumerals(body: unknown): boolean {
  return typeof body === 'object' && body !== null && WITH_NUMERALS.has(body)
}

function valueWithNumerals(text: string): unknown {
  let isKept = false
  const value = parse(text, function keepNumeral(holder, name, number, source) {
    if (typeof number !== 'number' || source === undefined || source === String(number)) return
    isKept = true
    const numerals = NUMERALS.get(holder) ?? new Map<string, string>()
    NUMERALS.set(holder, numerals.set(name, source))
  })
  if (isKept && typeof value === 'object' && value !== null) WITH_NUMERALS.add(value)
  return value
}

/** Is shown every member, with its text where it is a scalar. */
type Look = (holder: object, name: string, value: unknown, source: string | undefined) => void

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw refusal('it is not UTF-8')
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', hasMark ? 3 : 0)
}

function parse(text: string, look?: Look): unknown {
  try {
    return look === undefined ? JSON.parse(text) : JSON.parse(text, reviverOf(look))
  } catch (cause) {
    throw refusal('it cannot be parsed', cause)
  }
}

/** TypeScript does not know yet that a reviver is told the source (ECMAScript 2026). */
function reviverOf(look: Look) {
  return function revive(this: object, name: string, value: unknown, context?: { source?: string }): unknown {
    look(this, name, value, context?.source)
    return value
  }
}

/** One flat pass over the tokens: what `JSON.parse` hides, and what the engine's reader cannot take. */
function checkTokens(text: string): void {
  const scanner = createScanner(text, true)
  const open: (Set<string> | null)[] = []
  let isName = false
  for (let kind = next(scanner); kind !== KIND.end; kind = next(scanner)) {
    if (kind === KIND.string) {
      if (isName) checkName(scanner.getTokenValue(), open.at(-1))
      isName = false
    } else if (opens(kind)) {
      isName = kind === KIND.openBrace
      open.push(isName ? new Set() : null)
      if (open.length > MAX_DEPTH) throw refusal(`it is nested deeper than ${MAX_DEPTH}`)
    } else if (closes(kind)) {
      open.pop()
      isName = false
    } else if (kind === KIND.comma) {
      isName = (open.at(-1) ?? null) !== null
    } else if (kind === KIND.number && scanner.getTokenLength() > MAX_NUMBER_DIGITS) {
      checkDigits(scanner.getTokenValue())
    }
  }
}

function checkName(name: string, siblings: Set<string> | null | undefined): void {
  if (siblings?.has(name) ?? false) throw refusal('a member is given twice')
  if (name === '__proto__') throw refusal('a member is named __proto__')
  if (name.length > MAX_NAME_CHARS)
    throw refusal(`the name of a member is longer than ${MAX_NAME_CHARS} characters`)
  siblings?.add(name)
}

function checkDigits(number: string): void {
  const digits = number.replace(/\D/g, '').length
  if (digits > MAX_NUMBER_DIGITS) throw refusal(`a number has more than ${MAX_NUMBER_DIGITS} digits`)
}

function next(scanner: JSONScanner): number {
  return scanner.scan()
}

function opens(kind: number): boolean {
  return kind === KIND.openBrace || kind === KIND.openBracket
}

function closes(kind: number): boolean {
  return kind === KIND.closeBrace || kind === KIND.closeBracket
}

function refusal(what: string, cause?: unknown): GatewayError {
  return new GatewayError('GW_BAD_JSON', {
    message: `The request body is not acceptable JSON: ${what}`,
    cause,
  })
}
