import { type OperatorText, ownText, operatorText } from '../../../errors.ts'
import { isNullText } from './jackson.ts'
import {
  firstOf,
  isGiven,
  itemsOf,
  DEFER,
  membersOf,
  engineException,
  type RuleResult,
  type Members,
  type ValidationRule,
} from './engine-error.ts'
import { isObject } from '../../../request/value.ts'
import { isTrue } from '../../../request/java-text.ts'
import { directionFinding, sortingFinding } from './sorting.ts'
import { delegationFinding } from './task-body.ts'
import type { QueryContract } from './query-text.ts'
import { ALIASES, taskSorts } from './task-query.ts'
import { comparesObjects, filtersFinding, type FilterKind } from './variable-filters.ts'

const TASK: FilterKind = { name: 'task variable', disorder: 500 }
const PROCESS: FilterKind = { name: 'process variable', hasNotLike: true, disorder: 500 }
const CASE: FilterKind = { name: 'case variable', disorder: 500 }
const FILTERS: readonly (readonly [string, FilterKind])[] = [
  ['taskVariables', TASK],
  ['processVariables', PROCESS],
  ['caseInstanceVariables', CASE],
]

/** The rules for a task query in a body. */
export const taskQueryRules: readonly ValidationRule[] = [
  { find: ({ body }) => queryFinding(membersOf(body)) },
]

/** The rules for a task query in a query string. */
export const taskParameters: QueryContract = {
  criteria: taskSorts.by,
  names: ALIASES,
  find: (text) => text.finding ?? queryFinding(text.query),
}

/** Returns the engine's refusal, in its order: filters, sort order, then errors that occur when it runs the query. */
function queryFinding(query: Members): RuleResult {
  const blocks = itemsOf(query['orQueries']).map(membersOf)
  return (
    filterFinding(query, false) ??
    sortingFinding(query, taskSorts) ??
    (hasObjects(query) || blocks.some(hasObjects) ? DEFER : null) ??
    directionFinding(query, taskSorts)
  )
}

function filterFinding(query: Members, isBlock: boolean): RuleResult {
  // The engine evaluates expressions that are allowed. Their results are not known here.
  if (Object.keys(query).some((name) => name.endsWith('Expression') && isGiven(query[name]))) return DEFER
  const blocks = itemsOf(query['orQueries'])
  return (
    firstOf(blocks, (block) => (isObject(block) ? filterFinding(block, true) : DEFER)) ??
    tenantFinding(query, isBlock) ??
    assigneeFinding(query) ??
    candidateFinding(query, isBlock) ??
    (holdsNull(query['taskIdIn']) ? nullValue(operatorText`taskIds`) : null) ??
    dueFinding(query, isBlock) ??
    delegationFinding(query['delegationState']) ??
    candidateGroupsFinding(query, isBlock) ??
    assignedFinding(query) ??
    firstOf(FILTERS, ([name, kind]) => filtersFinding(query[name], kind, !isBlock))
  )
}

function tenantFinding({ tenantIdIn, withoutTenantId }: Members, isBlock: boolean): RuleResult {
  if (holdsNull(tenantIdIn)) return nullValue(operatorText`tenantIds`)
  const isBoth = itemsOf(tenantIdIn).length > 0 && isTrue(withoutTenantId)
  return isBoth && !isBlock
    ? misuse(operatorText`cannot set both tenantIdIn and withoutTenantId filters.`)
    : null
}

function assigneeFinding({ assigneeIn, assigneeNotIn }: Members): RuleResult {
  return holdsNull(assigneeIn) || holdsNull(assigneeNotIn) ? nullValue(operatorText`Assignees`) : null
}

const OUTSIDE_BLOCKS = [
  'withCandidateGroups',
  'withoutCandidateGroups',
  'withCandidateUsers',
  'withoutCandidateUsers',
]

function candidateFinding(query: Members, isBlock: boolean): RuleResult {
  if (isBlock) {
    const outside = OUTSIDE_BLOCKS.find((name) => isTrue(query[name]))
    return outside === undefined
      ? null
      : misuse(operatorText`cannot set ${ownText(outside)}() within 'or' query`)
  }
  const isBoth = isGiven(query['candidateUser']) && isGiven(query['candidateGroup'])
  return isBoth ? misuse(operatorText`cannot set both candidateUser and candidateGroup`) : null
}

function dueFinding(query: Members, isBlock: boolean): RuleResult {
  if (isBlock || !isTrue(query['withoutDueDate'])) return null
  if (Object.entries(ALIASES).some(([old, name]) => Object.hasOwn(query, old) && Object.hasOwn(query, name)))
    return DEFER
  const isDue = ['due', 'dueDate', 'dueAfter', 'dueBefore'].some((name) => isDateGiven(query[name]))
  return isDue
    ? misuse(operatorText`cannot set both due date (equal to, before, or after) and withoutDueDate filters.`)
    : null
}

function candidateGroupsFinding({ candidateGroups, candidateUser }: Members, isBlock: boolean): RuleResult {
  if (!isGiven(candidateGroups)) return null
  if (itemsOf(candidateGroups).length === 0)
    return engineException(500, 'ProcessEngineException', operatorText`Candidate group list is empty`)
  return isGiven(candidateUser) && !isBlock
    ? misuse(operatorText`cannot set both candidateGroupIn and candidateUser`)
    : null
}

function assignedFinding(query: Members): RuleResult {
  if (!isTrue(query['includeAssignedTasks'])) return null
  const isNamed = ['candidateUser', 'candidateGroup', 'candidateGroupLike', 'candidateGroups'].some((name) =>
    isGiven(query[name]),
  )
  if (isNamed || OUTSIDE_BLOCKS.some((name) => isTrue(query[name]))) return null
  return misuse(
    operatorText`candidateUser, candidateGroup, candidateGroupLike, candidateGroupIn, withCandidateGroups, withoutCandidateGroups, withCandidateUsers, withoutCandidateUsers has to be called before 'includeAssignedTasks'.`,
  )
}

function hasObjects(query: Members): boolean {
  return FILTERS.some(([name]) => comparesObjects(query[name]))
}

function holdsNull(value: unknown): boolean {
  return itemsOf(value).includes(null)
}

function isDateGiven(value: unknown): boolean {
  return isGiven(value) && !(typeof value === 'string' && isNullText(value))
}

function nullValue(what: OperatorText): RuleResult {
  return engineException(500, 'NullValueException', operatorText`${what} contains null value`)
}

function misuse(how: OperatorText): RuleResult {
  return engineException(500, 'ProcessEngineException', operatorText`Invalid query usage: ${how}`)
}
