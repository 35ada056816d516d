import { type OperatorText, operatorTextOf, callerTextOf, ownText, operatorText } from '../../../errors.ts'
import { isBooleanText, isDateText, isNullText, isWholeText, typeNameOf } from './jackson.ts'
import {
  type IsDateText,
  restFailure,
  firstOf,
  invalid,
  isGiven,
  DEFER,
  membersOf,
  valueText,
  type RuleResult,
  type Members,
} from './engine-error.ts'
import { isObject } from '../../../request/value.ts'
import { javaTrim } from '../../../request/java-text.ts'

/**
 * A type of the engine that has a plain Java type, and the values that convert to it: texts that `takesText` accepts, and
 * other values that `takes` accepts.
 */
interface Primitive {
  readonly java: string
  readonly takesText: (text: string) => boolean
  readonly takes?: (value: unknown) => boolean
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const NOT_FINITE: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity', 'INF', '-INF'])
const BASE64 = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*$/

const PRIMITIVES: Readonly<Record<string, Primitive>> = {
  boolean: {
    java: 'java.lang.Boolean',
    takesText: isBooleanText,
    takes: (value) => typeof value === 'boolean',
  },
  bytes: { java: '[B', takesText: isBase64 },
  date: { java: 'java.util.Date', takesText: isDateText },
  double: { java: 'java.lang.Double', takesText: isDecimalText, takes: isNumber },
  integer: { java: 'java.lang.Integer', takesText: (text) => isWholeText(text, 'integer') },
  long: { java: 'java.lang.Long', takesText: (text) => isWholeText(text, 'long') },
  null: { java: 'javax.lang.model.type.NullType', takesText: () => false },
  number: { java: 'java.lang.Number', takesText: isDecimalText, takes: isNumber },
  short: { java: 'java.lang.Short', takesText: (text) => isWholeText(text, 'short') },
  string: { java: 'java.lang.String', takesText: () => true, takes: (value) => typeof value !== 'object' },
}

/** The engine's message if one of these members of a file's info is null. They may be absent. */
const NOT_NULL: Readonly<Record<string, OperatorText>> = {
  mimeType: operatorText`The provided mime type is null. Set a non-null value info property with key 'filename'`,
  encoding: operatorText`The provided encoding is null. Set a non-null value info property with key 'encoding'`,
}

/** Types that only the engine's Spin plugin adds. */
const PLUGIN_TYPES: ReadonlySet<string> = new Set(['json', 'xml'])

/** Returns the engine's refusal of the typed values in a map of variables, or null if it can build all of them. */
export function variablesFinding(given: unknown, isDate: IsDateText): RuleResult {
  // A null variable fails inside the engine, with a message that contains names of its own classes.
  return firstOf(Object.values(membersOf(given)), (value) =>
    isObject(value) ? valueFinding(value, isDate) : DEFER,
  )
}

/** Returns the engine's refusal of a typed value, or null if it can build the value. Every value without a type is valid. */
export function valueFinding({ type, value, valueInfo }: Members, isDate: IsDateText): RuleResult {
  if (!isGiven(type)) return null
  if (typeof type === 'number' || type === '') return DEFER
  const name = typeNameOf(valueText(type))
  const info = isObject(valueInfo) ? valueInfo : null
  const primitive = Object.hasOwn(PRIMITIVES, name) ? PRIMITIVES[name] : undefined
  if (primitive !== undefined)
    return primitiveFinding(name === 'date' ? { ...primitive, takesText: isDate } : primitive, {
      type: valueText(type),
      value,
      info,
    })
  if (name === 'object') return objectFinding(valueText(type), value, info)
  if (name === 'file') return fileFinding(value, info)
  if (PLUGIN_TYPES.has(name)) return DEFER
  return {
    status: 400,
    type: 'RestException',
    message: {
      caller: `Unsupported value type '${valueText(type)}'`,
      operator: operatorText`the type of a variable is not supported`,
    },
    code: null,
  }
}

/** Adds the prefix of a resource's message to a finding. Failures of another kind do not pass through the resource's handler. */
export function prefixed(finding: RuleResult, prefix: string): RuleResult {
  const isRefusal = finding !== null && finding !== DEFER && 'message' in finding && finding.status === 400
  return isRefusal
    ? invalid({
        caller: `${prefix}${callerTextOf(finding.message)}`,
        operator: operatorTextOf(finding.message),
      })
    : finding
}

interface TypedValue {
  readonly type: string
  readonly value: unknown
  readonly info: Members | null
}

function primitiveFinding(primitive: Primitive, { type, value, info }: TypedValue): RuleResult {
  const isTaken = !isGiven(value) || (primitive.takes?.(value) ?? false)
  const text = javaText(value)
  if (isTaken && hasTransient(info)) return null
  // The engine reads the text between two JSON quotes. A quote or a backslash in the text may end it or be decoded.
  if (text === null || (!isTaken && /["\\]/.test(text))) return DEFER
  if (!isTaken && primitive.takesText(text) && hasTransient(info)) return null
  return invalid({
    caller: `Cannot convert value '${text}' of type '${type}' to java type ${primitive.java}`,
    operator: operatorText`the value of a variable cannot be converted to java type ${ownText(primitive.java)}`,
  })
}

function objectFinding(type: string, value: unknown, info: Members | null): RuleResult {
  if (isGiven(value) && typeof value !== 'string')
    return invalid({
      caller: `Must provide 'null' or String value for value of SerializableValue type '${type}'.`,
      operator: operatorText`the value of a serialized variable is not a text`,
    })
  const names = [info?.['objectTypeName'], info?.['serializationDataFormat']]
  if (names.some((name) => isGiven(name) && typeof name !== 'string')) return DEFER
  return transientFinding(info)
}

function fileFinding(value: unknown, info: Members | null): RuleResult {
  if (info === null) return refused(operatorText`Cannot create file without valueInfo.`)
  if (!isGiven(info['filename']))
    return refused(
      operatorText`Cannot create file without filename! Please set a name into ValueInfo with key filename`,
    )
  if (typeof value !== 'string')
    return refused(operatorText`Provided value is not of File, InputStream or byte[] type.`)
  const none = Object.keys(NOT_NULL).find((key) => Object.hasOwn(info, key) && !isGiven(info[key]))
  const isNull = none === undefined ? undefined : NOT_NULL[none]
  if (isNull !== undefined) return refused(isNull)
  return transientFinding(info)
}

function transientFinding(info: Members | null): RuleResult {
  return hasTransient(info)
    ? null
    : refused(operatorText`The property 'transient' should have a value of type 'boolean'.`)
}

function hasTransient(info: Members | null): boolean {
  return info === null || !Object.hasOwn(info, 'transient') || typeof info['transient'] === 'boolean'
}

function refused(message: OperatorText): RuleResult {
  return restFailure('IllegalArgumentException', message)
}

/** Returns whether a text is Base64. The engine's reader skips all characters up to the blank, including control characters. */
function isBase64(text: string): boolean {
  return isNullText(text) || BASE64.test(text.replace(/[^!-\uffff]/g, ''))
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number'
}

function isDecimalText(text: string): boolean {
  const word = javaTrim(text)
  return isNullText(word) || DECIMAL.test(word) || NOT_FINITE.has(word)
}

/** Returns a JSON value as Java prints it, or null if the parsed copy does not show this. */
function javaText(value: unknown): string | null {
  if (typeof value === 'number') return javaNumber(value)
  if (!Array.isArray(value) && !isObject(value)) return valueText(value)
  const parts = Array.isArray(value) ? value.map(javaText) : Object.entries(value).map(javaEntry)
  if (parts.includes(null)) return null
  return Array.isArray(value) ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`
}

function javaEntry([name, value]: [string, unknown]): string | null {
  const text = javaText(value)
  // JavaScript moves names that are numbers to the front.
  return text === null || /^\d+$/.test(name) ? null : `${name}=${text}`
}

function javaNumber(value: number): string | null {
  const size = Math.abs(value)
  return Number.isInteger(value)
    ? size < 1e15
      ? `${value}`
      : null
    : size >= 1e-3 && size < 1e7
      ? `${value}`
      : null
}
