import { type OperatorText, operatorText } from '../../../errors.ts'
import { publishedSchema } from '../../../operations/published/facts.ts'
import { anything, type JavaType, list, map, name, object, oneOf, string, typeNameOf } from './jackson.ts'
import {
  firstOf,
  invalid,
  isGiven,
  itemsOf,
  DEFER,
  membersOf,
  engineException,
  valueText,
  type RuleResult,
  type Members,
} from './engine-error.ts'
import { isObject } from '../../../request/value.ts'

/** The sort criteria of a query, in `sortBy` and in `sorting`. */
export interface Sorts {
  readonly by: readonly string[]
  /** The criteria that are only in `sorting`, with `parameters` that name the variable and its type. */
  readonly byVariable?: readonly string[]
}

export const ORDERS = ['asc', 'desc']
const SORTABLE: ReadonlySet<string> = new Set([
  'boolean',
  'date',
  'double',
  'integer',
  'long',
  'short',
  'string',
])
const UNSORTABLE: ReadonlySet<string> = new Set(['bytes', 'file', 'null', 'number', 'object'])

/** The criteria of a query that are not published, by schema. */
const UNPUBLISHED: Readonly<Record<string, readonly string[]>> = { TaskQueryDto: ['tenantId'] }

/** Returns the criteria of a query from the published API, by its schema. */
export function sortsOf(schema: string): Required<Sorts> {
  const type = publishedSchema(`${schema}.sorting`).get('sortBy')?.type
  const published = type?.kind === 'string' ? (type.values ?? []) : []
  const all = [...published, ...(UNPUBLISHED[schema] ?? [])]
  return {
    by: all.filter((one) => !one.endsWith('Variable')),
    byVariable: all.filter((one) => one.endsWith('Variable')),
  }
}

const SORTING = list(object({ sortBy: string, sortOrder: string, parameters: map(anything) }))

/**
 * Returns the members that every query body has. Only `sortBy` and `sortOrder` may not be null. Without criteria, every name may be
 * one.
 */
export function sortMembers(sorts?: Sorts): Readonly<Record<string, JavaType>> {
  return { sortBy: sorts === undefined ? name : oneOf(sorts.by), sortOrder: oneOf(ORDERS), sorting: SORTING }
}

/**
 * Returns the engine's refusal while it applies the order of a query. Only the outermost query is sorted. `sorts` has the criteria of
 * `sorting`, which a query string does not have.
 */
export function sortingFinding(query: Members, sorts: Sorts = { by: [] }): RuleResult {
  if (isGiven(query['sortBy']) !== isGiven(query['sortOrder']))
    return invalid(operatorText`Only a single sorting parameter specified. sortBy and sortOrder required`)
  const state: SortingState = { last: isGiven(query['sortBy']) ? 'directed' : 'none' }
  // A null entry fails inside the engine, with a message that contains names of its own classes.
  return firstOf(itemsOf(query['sorting']), (item) => (isObject(item) ? applyOne(item, sorts, state) : DEFER))
}

/** Returns the engine's refusal when it runs the query. Every criterion needs a direction, and an entry without a criterion may supply it. */
export function directionFinding(query: Members, sorts: Sorts): RuleResult {
  let [isOpen, isUndirected] = [false, false]
  for (const { sortBy, sortOrder } of itemsOf(query['sorting']).map(membersOf)) {
    if (isSort(sortBy, sorts)) {
      isUndirected ||= isOpen
      isOpen = true
    }
    if (isOrder(sortOrder)) isOpen = false
  }
  return isUndirected || isOpen
    ? notValid(operatorText`Invalid query: call asc() or desc() after using orderByXX(): direction is null`)
    : null
}

interface SortingState {
  last: 'none' | 'open' | 'directed'
}

function applyOne({ sortBy, sortOrder, parameters }: Members, sorts: Sorts, state: SortingState): RuleResult {
  const variable = sorts.byVariable?.includes(valueText(sortBy)) ?? false
  const finding = variable ? variableFinding(membersOf(parameters)) : null
  if (finding !== null) return finding
  if (isSort(sortBy, sorts)) state.last = 'open'
  if (!isOrder(sortOrder)) return null
  if (state.last === 'none')
    return notValid(
      operatorText`You should call any of the orderBy methods first before specifying a direction: currentOrderingProperty is null`,
    )
  if (state.last === 'directed')
    return notValid(
      operatorText`Invalid query: can specify only one direction desc() or asc() for an ordering constraint: direction is not null`,
    )
  state.last = 'directed'
  return null
}

function variableFinding({ variable, type }: Members): RuleResult {
  const isText = [variable, type].every((value) => !isGiven(value) || typeof value === 'string')
  if (!isText || type === '') return DEFER
  if (!isGiven(variable))
    return engineException(500, 'NullValueException', operatorText`variableName is null`)
  const typeName = isGiven(type) ? typeNameOf(valueText(type)) : ''
  if (SORTABLE.has(typeName)) return null
  if (UNSORTABLE.has(typeName))
    return engineException(500, 'ProcessEngineException', {
      caller: `Cannot order by variables of type ${typeName}`,
      operator: operatorText`sorting.parameters.type cannot be sorted`,
    })
  // A plugin may add types.
  return typeName === '' ? engineException(500, 'NullValueException', operatorText`valueType is null`) : DEFER
}

function isSort(value: unknown, { by, byVariable = [] }: Sorts): boolean {
  return isGiven(value) && (by.includes(valueText(value)) || byVariable.includes(valueText(value)))
}

function isOrder(value: unknown): boolean {
  return isGiven(value) && ORDERS.includes(valueText(value))
}

function notValid(message: OperatorText): RuleResult {
  return engineException(400, 'NotValidException', message)
}
