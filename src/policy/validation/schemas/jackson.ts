import { type OperatorText, ownText, operatorText } from '../../../errors.ts'
import { type IsDateText, isGiven } from './engine-error.ts'
import { isObject } from '../../../request/value.ts'
import { javaTrim } from '../../../request/java-text.ts'
import { JAVA_INTEGER } from '../../../request/paging.ts'

/*
 * The values that the engine's JSON reader (Jackson) accepts for each Java type, as measured. If the parsed copy does not
 * show a difference (5.0 and 5), or the reader's tolerance depends on its locale, the rule here accepts more, because the
 * engine checks the bytes itself.
 */
const LONG = { min: -9_223_372_036_854_775_808n, max: 9_223_372_036_854_775_807n }
const SHORT = { min: -32_768, max: 32_767 }
const BOOLEANS: ReadonlySet<string> = new Set(['true', 'True', 'TRUE', 'false', 'False', 'FALSE'])

interface NumberRange {
  readonly min: number | bigint
  readonly max: number | bigint
}

/** A value that a Java type does not accept, and its path. */
export interface TypeMismatch {
  readonly path: readonly PropertyKey[]
  readonly message: OperatorText
}

/** Accepts every text. Used for an engine with another date format than the default: the engine checks its dates itself. */
export const acceptDateText: IsDateText = () => true

/**
 * A Java type as the engine's JSON reader fills it. Returns null if the type accepts the value. `depth` is the number of
 * objects that contain the value.
 */
export type JavaType = (value: unknown, depth?: number, isDate?: IsDateText) => TypeMismatch | null

/**
 * The largest depth of nested objects. The engine ignores all but the first level of or-blocks. Hundreds of levels are a
 * mistake, and each uses a part of the stack.
 */
const MAX_DEPTH = 250

/** Accepts any scalar: numbers and booleans become text. */
export const string = scalar((value) => typeof value !== 'object', operatorText`a string`)
export const integer = scalar((value) => isWhole(value, JAVA_INTEGER), operatorText`an integer`)
export const long = scalar((value) => isWhole(value, LONG), operatorText`a long integer`)
export const boolean = scalar(isBoolean, operatorText`a boolean`)
export const date: JavaType = (value, _depth, isDate = isDateText) =>
  !isGiven(value) || fitsDate(value, isDate)
    ? null
    : misfit(operatorText`is not a date as yyyy-MM-dd'T'HH:mm:ss.SSSZ`)
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

/** Accepts an object with any member names. */
export function map(item: JavaType): JavaType {
  return (value, depth, isDate) => {
    if (!isGiven(value)) return null
    if (!isObject(value)) return misfit(operatorText`is not an object`)
    return item === anything ? null : misfitIn(value, () => item, { depth, isDate })
  }
}

/** Accepts an object. Members that are not named are ignored, as in the engine. */
export function object(members: Readonly<Record<string, JavaType>>): JavaType {
  const types = new Map(Object.entries(members))
  return (value, depth = 0, isDate) => {
    if (!isGiven(value)) return null
    if (!isObject(value)) return otherThan('object', value)
    if (depth > MAX_DEPTH) return misfit(operatorText`is nested too deeply`)
    return misfitIn(value, (member) => types.get(member), { depth: depth + 1, isDate })
  }
}

/** Accepts only these values. The setter of such a member refuses all others, including null. */
export function oneOf(values: readonly string[]): JavaType {
  return (value) =>
    values.some((legal) => legal === value) ? null : misfit(operatorText`is not a legal value`)
}

/**
 * Accepts only texts that may name something, such as a sort criterion: another engine may know more names than the gateway. The
 * setter of such a member refuses null, and numbers and booleans converted to text.
 */
export const name: JavaType = (value) =>
  typeof value === 'string' && isName(value) ? null : misfit(operatorText`is not a legal value`)

/** Returns whether a text has the form of a name in the API: a small letter, and then letters and digits. */
export function isName(text: string): boolean {
  return /^[a-z][A-Za-z0-9]*$/.test(text)
}

function scalar(fits: (value: unknown) => boolean, what: OperatorText): JavaType {
  return (value) => (!isGiven(value) || fits(value) ? null : misfit(operatorText`is not ${what}`))
}

/** Checks only the given members: a query type has a hundred members, and a body names a few of them. */
function misfitIn(
  value: Readonly<Record<string, unknown>>,
  typeOf: (member: string) => JavaType | undefined,
  { depth, isDate }: { readonly depth: number | undefined; readonly isDate: IsDateText | undefined },
): TypeMismatch | null {
  for (const member of Object.keys(value)) {
    const found = typeOf(member)?.(value[member], depth, isDate) ?? null
    if (found !== null) return within(member, found)
  }
  return null
}

function within(place: PropertyKey, { path, message }: TypeMismatch): TypeMismatch {
  return { path: [place, ...path], message }
}

function misfit(message: OperatorText): TypeMismatch {
  return { path: [], message }
}

function otherThan(expected: 'array' | 'object', value: unknown): TypeMismatch {
  const received = Array.isArray(value) ? 'array' : typeof value
  return misfit(ownText(`Invalid input: expected ${expected}, received ${received}`))
}

function isWhole(value: unknown, range: NumberRange): boolean {
  if (typeof value === 'number') return isWholeNumber(value, range)
  return typeof value === 'string' && isWholeText(value, range)
}

/**
 * Returns whether a number is read as a whole number of that type. The fraction is cut off if the number is in the range.
 * After parsing, the largest long is 2^63.
 */
export function isWholeNumber(value: number, type: NumberRange | 'integer' | 'long'): boolean {
  const { min, max } = type === 'integer' ? JAVA_INTEGER : type === 'long' ? LONG : type
  return value >= Number(min) && value <= Number(max)
}

/** A digit of any script that Java represents by one `char`. */
const DIGIT = String.raw`(?![\u{10000}-\u{10ffff}])\p{Nd}`
const WHOLE = new RegExp(`^([+-]?(?:${DIGIT})+)$`, 'u')

/** Returns whether a text is read as a whole number of that type. Blank and `null` are read as null. Digits of any script count. */
export function isWholeText(text: string, type: NumberRange | 'integer' | 'long' | 'short'): boolean {
  if (isNullText(text)) return true
  const [, digits] = WHOLE.exec(javaTrim(text)) ?? []
  const range = type === 'integer' ? JAVA_INTEGER : type === 'long' ? LONG : type === 'short' ? SHORT : type
  return (
    digits !== undefined &&
    (!/^[+-]?\d{1,40}$/.test(digits) || isInRange(BigInt(digits.replace('+', '')), range))
  )
}

function isInRange(value: bigint, { min, max }: NumberRange): boolean {
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

/**
 * A number of `SimpleDateFormat`: optional blanks and tabs, a sign, digits of any script and an exponent, with any value.
 * The infinity sign and `NaN` are numbers, too.
 */
const FIELD = String.raw`[ \t]*[-\u2212]?(?:(?:${DIGIT})+(?:E-?(?:${DIGIT})+)?|\u221e|NaN)`

/** An offset of four digits, or a name. `Z` is not a name. The text after it is ignored. */
const ZONE = String.raw`[ \t]*(?:[-+](?:[01]\d|2[0-3])[0-5]\d|(?!Z\s*$)\p{L})`
const DATE = new RegExp(`^${FIELD}-${FIELD}-${FIELD}T${FIELD}:${FIELD}:${FIELD}\\.${FIELD}${ZONE}`, 'u')

/** Returns whether a text can be read as a date. Blank and `null` are read as null. */
export function isDateText(text: string): boolean {
  return isNullText(text) || DATE.test(javaTrim(text))
}

/** Returns whether the reader reads a text as null if it expects a type other than text. */
export function isNullText(text: string): boolean {
  const word = javaTrim(text)
  return word === '' || word === 'null'
}

/** Returns the engine's own name of a type. A request may write it with a capital letter. */
export function typeNameOf(type: string): string {
  return type.charAt(0).toLowerCase() + type.slice(1)
}
