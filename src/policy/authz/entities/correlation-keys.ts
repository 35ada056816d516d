import type { DateFormat } from '../../../request/date-format.ts'
import { withNumerals } from '../../../request/json.ts'
import { readQuoted } from '../../../request/json-text.ts'
import { isObject } from '../../../request/value.ts'
import { isNullText, typeNameOf } from '../../validation/schemas/jackson.ts'

/** Conditions on variables for a query of executions. */
export interface KeyConditions {
  readonly conditions: readonly VariableCondition[]
  /** Whether the conditions select the same executions as the keys. If not, they select these and possibly more. */
  readonly isExact: boolean
}

interface VariableCondition {
  readonly name: string
  readonly operator: 'eq'
  readonly value: unknown
}

/** The value of a condition. Null if every condition would exclude executions that match the key. */
type ConditionValue = { readonly value: unknown; readonly isExact: boolean } | null

/** The engine joins a table for each condition. Further keys are left out. */
const MAX_CONDITIONS = 50

const NUMBER_TYPES = ['integer', 'long', 'short', 'double']

/**
 * Returns correlation keys as conditions for `POST /execution`. The engine reads values in a query differently
 * (`VariableQueryParameterDto.resolveValue`, engine 7.22): a text becomes a date if it can be parsed as one, and a number
 * matches variables of all number types. A key that no condition can express is left out.
 */
export function conditionsOf(keys: unknown, dateFormat: DateFormat): KeyConditions {
  const entries = isObject(keys) ? Object.entries(keys) : []
  const expressed = entries.slice(0, MAX_CONDITIONS).flatMap(([name, key]) => {
    const found = conditionValueOf(key, dateFormat)
    return found === null ? [] : [{ name, ...found }]
  })
  return {
    conditions: expressed.map(({ name, value }) => ({ name, operator: 'eq', value })),
    isExact: expressed.length === entries.length && expressed.every(({ isExact }) => isExact),
  }
}

function conditionValueOf(key: unknown, dateFormat: DateFormat): ConditionValue {
  if (!isObject(key)) return null
  const { value = null, type = null } = key
  const typeName = typeof type === 'string' ? typeNameOf(type) : ''
  const isOfType = (...names: readonly string[]): boolean => type === null || names.includes(typeName)
  if (typeof value === 'string')
    return isOfType('string') ? textValueOf(value, dateFormat) : dateValueOf(value, typeName)
  if (typeof value === 'number')
    return isOfType(...NUMBER_TYPES) ? { value: withNumerals(key, 'value'), isExact: false } : null
  const isSame = typeof value === 'boolean' ? isOfType('boolean') : value === null && type === null
  return isSame ? { value, isExact: true } : null
}

/** A query reads a text as a date if it can. An empty text and `null` are read as a date that is null. */
function textValueOf(value: string, dateFormat: DateFormat): ConditionValue {
  const read = readQuoted(value)
  const isText = read === null || !(isNullText(read) || dateFormat.mayRead(read))
  return isText ? { value, isExact: true } : null
}

/** A message and a query read the text of a date in the same way, unless it means null. */
function dateValueOf(value: string, typeName: string): ConditionValue {
  const read = readQuoted(value)
  const isDate = typeName === 'date' && read !== null && !isNullText(read)
  return isDate ? { value, isExact: true } : null
}
