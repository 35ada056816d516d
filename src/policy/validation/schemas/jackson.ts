import { type IsDateText, isGiven } from './engine-error.ts'
import { isObject } from '../../../request/value.ts'
import { javaTrim } from '../../../request/java-text.ts'

/*
 * What the engine's JSON reader (Jackson) takes for each Java type, as measured. Where a parsed copy cannot tell (5.0 from
 * 5) or the reader's tolerance depends on its locale, the wider reading stands here: the engine sees the bytes itself.
 */
const INT = { min: -2_147_483_648, max: 2_147_483_647 }
const LONG = { min: -9_223_372_036_854_775_808n, max: 9_223_372_036_854_775_807n }
const SHORT = { min: -32_768, max: 32_767 }
const BOOLEANS: ReadonlySet<string> = new Set(['true', 'True', 'TRUE', 'false', 'False', 'FALSE'])

interface Range {
  readonly min: number | bigint
  readonly max: number | bigint
}

/** A value that a Java type does not take, and where it stands. */
export interface Misfit {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Accepts every text. Used for an engine with another date format than the default: the engine checks its dates itself. */
export const acceptDateText: IsDateText = () => true

/**
 * A Java type as the engine's JSON reader fills it. Returns null if the type accepts the value. `depth` is the number of
 * objects that contain the value.
 */
export type JavaType = (value: unknown, depth?: number, isDate?: IsDateText) => Misfit | null

/** Objects within objects. The engine ignores all but the first level of or-blocks; hundreds of them are a mistake, and each takes a part of the stack. */
const MAX_DEPTH = 250

/** Any scalar: numbers and booleans become their text. */
export const string = member((value) => typeof value !== 'object', 'a string')
export const integer = member((value) => isWhole(value, INT), 'an integer')
export const long = member((value) => isWhole(value, LONG), 'a long integer')
export const boolean = member(isBoolean, 'a boolean')
export const date: JavaType = (value, _depth, isDate = isDateText) =>
  !isGiven(value) || fitsDate(value, isDate) ? null : misfit("is not a date as yyyy-MM-dd'T'HH:mm:ss.SSSZ")
export const anything: JavaType = () => null

export function list(item: JavaType): JavaType {
  return (value, depth, isDate) => {
    if (!isGiven(value)) return null
    if (!Array.isArray(value)) return otherThan('array', value)
    for (let index = 0; index < value.length; index += 1) {
      const found = item(value[index], depth, isDate)
      if (found !== null) return within(index, found)
    }
    return null
  }
}

/** Any names. */
export function map(item: JavaType): JavaType {
  return (value, depth, isDate) => {
    if (!isGiven(value)) return null
    if (!isObject(value)) return misfit('is not an object')
    return item === anything ? null : misfitIn(value, () => item, { depth, isDate })
  }
}

/** Members that are not named are ignored, as the engine ignores them. */
export function object(members: Readonly<Record<string, JavaType>>): JavaType {
  return bean(new Map(Object.entries(members)))
}

/** The same members at every depth. */
export function nested(members: (self: JavaType) => Readonly<Record<string, JavaType>>): JavaType {
  const types = new Map<string, JavaType>()
  const self = bean(types)
  for (const [name, type] of Object.entries(members(self))) types.set(name, type)
  return self
}

function bean(types: ReadonlyMap<string, JavaType>): JavaType {
  return (value, depth = 0, isDate) => {
    if (!isGiven(value)) return null
    if (!isObject(value)) return otherThan('object', value)
    if (depth > MAX_DEPTH) return misfit('is nested too deeply')
    return misfitIn(value, (name) => types.get(name), { depth: depth + 1, isDate })
  }
}

/** A member whose setter refuses all but these, null included. */
export function oneOf(values: readonly string[]): JavaType {
  return (value) => (values.some((legal) => legal === value) ? null : misfit('is not a legal value'))
}

function member(fits: (value: unknown) => boolean, what: string): JavaType {
  return (value) => (!isGiven(value) || fits(value) ? null : misfit(`is not ${what}`))
}

/** Looks at the members that are given: a query has a hundred, and a body names a few of them. */
function misfitIn(
  value: Readonly<Record<string, unknown>>,
  typeOf: (name: string) => JavaType | undefined,
  { depth, isDate }: { readonly depth: number | undefined; readonly isDate: IsDateText | undefined },
): Misfit | null {
  for (const name of Object.keys(value)) {
    const found = typeOf(name)?.(value[name], depth, isDate) ?? null
    if (found !== null) return within(name, found)
  }
  return null
}

function within(place: PropertyKey, { path, message }: Misfit): Misfit {
  return { path: [place, ...path], message }
}

function misfit(message: string): Misfit {
  return { path: [], message }
}

function otherThan(expected: 'array' | 'object', value: unknown): Misfit {
  const received = Array.isArray(value) ? 'array' : typeof value
  return misfit(`Invalid input: expected ${expected}, received ${received}`)
}

function isWhole(value: unknown, range: Range): boolean {
  if (typeof value === 'number') return isWholeNumber(value, range)
  return typeof value === 'string' && isWholeText(value, range)
}

/**
 * Whether a number reads as a whole one of that type: what follows the point is cut off, once the number is in its range.
 * The largest long is 2^63 once it is parsed.
 */
export function isWholeNumber(value: number, type: Range | 'integer'): boolean {
  const { min, max } = type === 'integer' ? INT : type
  return value >= Number(min) && value <= Number(max)
}

/** A digit of any script that Java has in one `char`. */
const DIGIT = String.raw`(?![\u{10000}-\u{10ffff}])\p{Nd}`
const WHOLE = new RegExp(`^([+-]?(?:${DIGIT})+)$`, 'u')

/** Whether a text reads as a whole number of that type: blank and `null` read as null. Digits of any script count. */
export function isWholeText(text: string, type: Range | 'integer' | 'long' | 'short'): boolean {
  if (isNullText(text)) return true
  const [, digits] = WHOLE.exec(javaTrim(text)) ?? []
  const range = type === 'integer' ? INT : type === 'long' ? LONG : type === 'short' ? SHORT : type
  return (
    digits !== undefined &&
    (!/^[+-]?\d{1,40}$/.test(digits) || isInRange(BigInt(digits.replace('+', '')), range))
  )
}

function isInRange(value: bigint, { min, max }: Range): boolean {
  return value >= min && value <= max
}

function isBoolean(value: unknown): boolean {
  if (typeof value === 'string') return isBooleanText(value)
  return typeof value === 'boolean' || Number.isInteger(value)
}

export function isBooleanText(text: string): boolean {
  return isNullText(text) || BOOLEANS.has(javaTrim(text))
}

function fitsDate(value: unknown, isDate: IsDateText): boolean {
  if (typeof value === 'string') return isDate(value)
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 63
}

/** A number of `SimpleDateFormat`: blanks and tabs before it, a sign, digits of any script, an exponent, any value; even these two symbols. */
const FIELD = String.raw`[ \t]*[-\u2212]?(?:(?:${DIGIT})+(?:E-?(?:${DIGIT})+)?|\u221e|NaN)`

/** An offset of four digits, or a name, of which `Z` is none. What follows is ignored. */
const ZONE = String.raw`[ \t]*(?:[-+](?:[01]\d|2[0-3])[0-5]\d|(?!Z\s*$)\p{L})`
const DATE = new RegExp(`^${FIELD}-${FIELD}-${FIELD}T${FIELD}:${FIELD}:${FIELD}\\.${FIELD}${ZONE}`, 'u')

/** Whether a text can be read as a date; blank and `null` read as null. */
export function isDateText(text: string): boolean {
  return isNullText(text) || DATE.test(javaTrim(text))
}

/** Texts that the reader takes for null where something else than text is due. */
export function isNullText(text: string): boolean {
  const word = javaTrim(text)
  return word === '' || word === 'null'
}

/** The engine's own name of a type that a request may write with a capital. */
export function typeNameOf(type: string): string {
  return type.charAt(0).toLowerCase() + type.slice(1)
}
