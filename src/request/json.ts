import { isUtf8 } from 'node:buffer'
import { type OperatorText, operatorText, GatewayError } from '../errors.ts'
import { CHAR, endOfString, nameOf, skipSpace } from './json-text.ts'

/** The engine's JSON reader responds with 500 beyond these limits (Jackson's StreamReadConstraints). */
const MAX_DEPTH = 1000
const MAX_NAME_CHARS = 50_000
const MAX_NUMBER_DIGITS = 1000
/** The engine has no such limits. A body beyond them would block all other requests for more than 0.1 s. */
const MAX_VALUES = 100_000
const MAX_MEMBERS = 10_000
const MAX_OR_QUERIES = 1000

/**
 * Parses a strict copy of a body for the checks. The bytes themselves are forwarded. Everything that two readers could understand
 * differently is refused. A UTF-8 byte order mark is skipped, as the engine skips it.
 * @throws GatewayError GW_BAD_JSON
 */
export function readJson(bytes: Buffer): unknown {
  const text = decodeJsonText(bytes)
  const value = plainValueOf(text) ?? checkedValueOf(text)
  if (value === null) throw refusal(operatorText`it is null`)
  return value
}

/** A text of this length cannot exceed the limits of depth and number. */
const MAX_PLAIN_CHARS = 2 * MAX_DEPTH

/**
 * Returns the value of a short text in the form of `JSON.stringify`, which contains no member twice and nothing ambiguous.
 * Libraries write JSON in this form, and the comparison takes two thirds of the time of the full check. Undefined if the text needs
 * the full check.
 */
function plainValueOf(text: string): unknown {
  if (text.length > MAX_PLAIN_CHARS || text.includes('"__proto__"')) return undefined
  const value = parse(text)
  return JSON.stringify(value) === text ? value : undefined
}

function checkedValueOf(text: string): unknown {
  const { names, hasOtherNumbers } = scan(text) // before parsing: a million brackets cost 0.1 s to parse
  const value = parse(text)
  // JSON.parse keeps only one of two members with the same name.
  if (countNames(value) !== names) throw refusal(operatorText`a member is repeated`)
  if (hasOtherNumbers) keepNumerals(text, value)
  return value
}

/** The digits of numbers that JavaScript prints in another way, by object and name. */
const NUMERALS = new WeakMap<object, Numerals>()

/** By the names of members and the indexes of elements. */
type Numerals = Map<string | number, string>

/**
 * Returns the digits of a number in a body that `readJson` has read. If the engine expects a text, it uses the digits as they are
 * written: `1.0` or `1e3`.
 */
export function numeralOf(holder: object, name: string): string {
  return (
    NUMERALS.get(holder)?.get(Array.isArray(holder) ? Number(name) : name) ??
    String(Reflect.get(holder, name))
  )
}

/** Returns a part of a body for encoding. Its numbers keep their digits. */
export function withNumerals(holder: object, name: string): unknown {
  const value: unknown = Reflect.get(holder, name)
  if (typeof value === 'number') return rawJson(numeralOf(holder, name))
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((_, index) => withNumerals(value, `${index}`))
  return Object.fromEntries(Object.keys(value).map((key) => [key, withNumerals(value, key)]))
}

/** Returns a value that `JSON.stringify` writes unchanged (ECMAScript 2026, not yet in TypeScript). */
function rawJson(text: string): unknown {
  const raw: unknown = Reflect.get(JSON, 'rawJSON')
  // Without it, the gateway would query the engine for a rounded number.
  if (typeof raw !== 'function') throw new Error('This Node has no JSON.rawJSON')
  return raw(text)
}

function decodeJsonText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw refusal(operatorText`it is not UTF-8`)
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', hasMark ? 3 : 0)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw refusal(operatorText`it cannot be parsed`, cause)
  }
}

/** Counts the syntax characters in one flat pass. `JSON.parse` decides whether they are JSON. */
function scan(text: string): JsonTokenCounts {
  const counts = new JsonTokenCounts()
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === CHAR.quote) at = endOfString(text, at)
    else if (isNumeric(char)) {
      const end = endOfNumber(text, at)
      counts.hasOtherNumbers ||= isOtherNumber(text, at, end)
      at = end - 1
    } else counts.take(char)
  }
  return counts
}

/** Counts of the characters outside of strings and numbers. */
class JsonTokenCounts {
  names = 0
  /** True if JavaScript may print some numbers in another way: fractions, exponents, too many digits, and -0. */
  hasOtherNumbers = false
  #values = 1
  #depth = 0
  /** Number of members of each open object, by its depth. */
  readonly #members = [0]

  take(char: number): void {
    if (char === CHAR.comma) this.#addValue()
    else if (char === CHAR.colon) this.#addName()
    else if (char === CHAR.openingBrace || char === CHAR.openingBracket) this.#open()
    else if (char === CHAR.closingBrace || char === CHAR.closingBracket)
      this.#depth = Math.max(0, this.#depth - 1)
  }

  #addValue(): void {
    this.#values += 1
    if (this.#values > MAX_VALUES) throw refusal(operatorText`it has more than ${MAX_VALUES} values`)
  }

  #addName(): void {
    this.names += 1
    const members = (this.#members[this.#depth] ?? 0) + 1
    this.#members[this.#depth] = members
    if (members > MAX_MEMBERS) throw refusal(operatorText`an object has more than ${MAX_MEMBERS} members`)
  }

  #open(): void {
    this.#addValue()
    this.#depth += 1
    this.#members[this.#depth] = 0
    if (this.#depth > MAX_DEPTH) throw refusal(operatorText`it is nested deeper than ${MAX_DEPTH} levels`)
  }
}

function isDigit(char: number): boolean {
  return char >= CHAR.zero && char <= CHAR.nine
}

function isNumeric(char: number): boolean {
  return isDigit(char) || char === CHAR.minus
}

function endOfNumber(text: string, start: number): number {
  let digits = 0
  for (let at = start; ; at += 1) {
    const char = text.charCodeAt(at)
    if (isDigit(char)) digits += 1
    else if (
      !(
        char === CHAR.minus ||
        char === CHAR.plus ||
        char === CHAR.point ||
        char === CHAR.smallE ||
        char === CHAR.largeE
      )
    )
      return at
    if (digits > MAX_NUMBER_DIGITS)
      throw refusal(operatorText`a number has more than ${MAX_NUMBER_DIGITS} digits`)
  }
}

/** A number of at most this many characters is printed as it is written, if it consists of digits only. */
const SURE_CHARS = 15

function isOtherNumber(text: string, start: number, end: number): boolean {
  if (end - start > SURE_CHARS) return true
  if (text.charCodeAt(start) === CHAR.minus && text.charCodeAt(start + 1) === CHAR.zero) return true
  for (let at = start; at < end; at += 1) {
    const char = text.charCodeAt(at)
    if (char === CHAR.point || char === CHAR.smallE || char === CHAR.largeE) return true
  }
  return false
}

/** Bodies that contain such numbers. */
const WITH_NUMERALS = new WeakSet<object>()

/**
 * Returns whether a body that `readJson` has read contains a number whose digits differ from the copy. The engine reads `1` as a
 * flag or a date but refuses `1.0`, and its messages show the digits as they are written.
 */
export function hasNumerals(body: unknown): boolean {
  return typeof body === 'object' && body !== null && WITH_NUMERALS.has(body)
}

/** Stores the digits of the numbers of a value. A reviver of JSON.parse takes ten times as long. */
function keepNumerals(text: string, value: unknown): void {
  const cursor: Cursor = { text, at: 0, holder: null, numerals: new Map() }
  visit(cursor, value, { '': value }, '')
  if (cursor.holder !== null && typeof value === 'object' && value !== null) WITH_NUMERALS.add(value)
}

interface Cursor {
  readonly text: string
  at: number
  /** The object or array of the last stored number. */
  holder: object | null
  numerals: Numerals
}

/** Moves the cursor over one value, which is member `name` of `holder`. */
function visit(cursor: Cursor, value: unknown, holder: object, name: string | number): void {
  const { text } = cursor
  cursor.at = skipSpace(text, cursor.at)
  const char = text.charCodeAt(cursor.at)
  if (char === CHAR.quote) cursor.at = endOfString(text, cursor.at) + 1
  else if (typeof value === 'number') visitNumber(cursor, value, holder, name)
  else if (Array.isArray(value)) visitElements(cursor, value)
  else if (typeof value === 'object' && value !== null) visitMembers(cursor, value)
  else cursor.at += value === false ? 'false'.length : 'true'.length
}

function visitElements(cursor: Cursor, array: readonly unknown[]): void {
  for (let index = 0; ; index += 1) {
    cursor.at += 1 // after the bracket or the comma
    if (index < array.length) visit(cursor, array[index], array, index)
    cursor.at = skipSpace(cursor.text, cursor.at)
    if (index >= array.length - 1) break
  }
  cursor.at += 1
}

function visitMembers(cursor: Cursor, object: object): void {
  const { text } = cursor
  for (cursor.at += 1; ; cursor.at += 1) {
    const char = text.charCodeAt(cursor.at)
    if (char === CHAR.closingBrace || Number.isNaN(char)) break
    if (char !== CHAR.quote) continue
    const end = endOfString(text, cursor.at)
    const name = nameOf(text.slice(cursor.at, end + 1))
    cursor.at = text.indexOf(':', end) + 1
    visit(cursor, Reflect.get(object, name), object, name)
    cursor.at -= 1 // the loop increments it
  }
  cursor.at += 1
}

function visitNumber(cursor: Cursor, value: number, holder: object, name: string | number): void {
  const start = cursor.at
  cursor.at = endOfNumber(cursor.text, start)
  if (!isOtherNumber(cursor.text, start, cursor.at)) return
  const source = cursor.text.slice(start, cursor.at)
  if (source !== String(value)) numeralsOf(cursor, holder).set(name, source)
}

/** Returns the stored digits of an object or array. It is kept for the next number, which is often in the same one. */
function numeralsOf(cursor: Cursor, holder: object): Numerals {
  if (cursor.holder !== holder) {
    cursor.holder = holder
    cursor.numerals = NUMERALS.get(holder) ?? new Map()
    NUMERALS.set(holder, cursor.numerals)
  }
  return cursor.numerals
}

/** Counts the members of all objects in a value. */
function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let names = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') names += countNames(item)
    return names
  }
  // Object.entries would create an array for each member, which takes five times as long.
  const own = Object.keys(value)
  for (const name of own) {
    const member: unknown = Reflect.get(value, name)
    checkName(name, member)
    if (typeof member === 'object') names += countNames(member)
  }
  return names + own.length
}

function checkName(name: string, member: unknown): void {
  if (name === '__proto__') throw refusal(operatorText`a member is named __proto__`)
  if (name.length > MAX_NAME_CHARS)
    throw refusal(operatorText`the name of a member is longer than ${MAX_NAME_CHARS} characters`)
  if (name === 'orQueries' && Array.isArray(member) && member.length > MAX_OR_QUERIES)
    throw refusal(operatorText`it has more than ${MAX_OR_QUERIES} orQueries`)
}

function refusal(what: OperatorText, cause?: unknown): GatewayError {
  return new GatewayError('GW_BAD_JSON', {
    message: operatorText`The request body is not acceptable JSON: ${what}`,
    cause,
  })
}
