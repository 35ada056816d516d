import { ownText, operatorText } from '../../../errors.ts'
import { isNullText } from './jackson.ts'
import {
  firstOf,
  invalid,
  isGiven,
  itemsOf,
  DEFER,
  engineException,
  valueText,
  type RuleResult,
  type Members,
} from './engine-error.ts'
import { isObject } from '../../../request/value.ts'

const EQUALITY: ReadonlySet<string> = new Set(['eq', 'neq'])
const PATTERNS: ReadonlySet<string> = new Set(['like', 'notLike'])
const ORDERED: ReadonlyMap<string, string> = new Map([
  ['gt', 'greater than'],
  ['gteq', 'greater than or equal'],
  ['lt', 'less than'],
  ['lteq', 'less than or equal'],
])

/** The properties in which the kinds of filters differ. */
export interface FilterKind {
  /** The name in the engine's message: `task variable`. */
  readonly name: string
  readonly hasNotLike?: boolean
  /** The status of the exception for a value that has no order. */
  readonly disorder: 400 | 500
}

/**
 * Returns the engine's refusal of a list of variable filters. With `readsDates`, the engine first tries to read each text as
 * a date: blank and `null` then become null.
 */
export function filtersFinding(filters: unknown, kind: FilterKind, readsDates: boolean): RuleResult {
  // A null filter fails inside the engine, with a message that contains names of its own classes.
  return firstOf(itemsOf(filters), (filter) =>
    isObject(filter) ? filterFinding(filter, kind, readsDates) : DEFER,
  )
}

/** Returns whether a filter compares with a list or an object. The engine refuses such a filter when it runs the query. */
export function comparesObjects(filters: unknown): boolean {
  return itemsOf(filters).some(
    (filter) =>
      isObject(filter) &&
      typeof filter['value'] === 'object' &&
      filter['value'] !== null &&
      !PATTERNS.has(valueText(filter['operator'])),
  )
}

function filterFinding(
  { name, operator, value }: Members,
  kind: FilterKind,
  readsDates: boolean,
): RuleResult {
  // A missing operator causes a failure in Camunda and a refusal in Operaton.
  if (!isGiven(operator)) return DEFER
  const word = valueText(operator)
  const order = ORDERED.get(word)
  if (order === undefined && !EQUALITY.has(word) && !isPatternOf(word, kind))
    return invalid({
      caller: `Invalid ${kind.name} comparator specified: ${word}`,
      operator: operatorText`the comparator of a ${ownText(kind.name)} is not valid`,
    })
  const type = kind.disorder === 400 ? 'NotValidException' : undefined
  if (!isGiven(name))
    return engineException(kind.disorder, type ?? 'NullValueException', operatorText`name is null`)
  if (order === undefined || !hasNoOrder(value, readsDates)) return null
  const message = operatorText`Booleans and null cannot be used in '${ownText(order)}' condition`
  return engineException(kind.disorder, type ?? 'ProcessEngineException', message)
}

function isPatternOf(operator: string, { hasNotLike = false }: FilterKind): boolean {
  return operator === 'like' || (operator === 'notLike' && hasNotLike)
}

function hasNoOrder(value: unknown, readsDates: boolean): boolean {
  // Blanks other than spaces are not valid JSON between quotes.
  const isNullDate = readsDates && typeof value === 'string' && isNullText(value) && !/[^ nul]/.test(value)
  return !isGiven(value) || typeof value === 'boolean' || isNullDate
}
