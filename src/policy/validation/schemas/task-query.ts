import type { QueryText } from './query-text.ts'
import { readQuery } from './query-text.ts'
import { sortParameters, sortsOf } from './sorting.ts'
import type { IsDateText, RequestData } from './engine-error.ts'
import { splitAt } from '../../../request/java-text.ts'
import { PAGING } from '../../../request/paging.ts'

/** The members of a task query, by type. `*Expression` members are text, too; a separate rule refuses them. */
const TEXTS = [
  'assignee',
  'assigneeLike',
  'candidateGroup',
  'candidateGroupLike',
  'candidateUser',
  'caseDefinitionId',
  'caseDefinitionKey',
  'caseDefinitionName',
  'caseDefinitionNameLike',
  'caseExecutionId',
  'caseInstanceBusinessKey',
  'caseInstanceBusinessKeyLike',
  'caseInstanceId',
  'delegationState',
  'description',
  'descriptionLike',
  'executionId',
  'involvedUser',
  'name',
  'nameLike',
  'nameNotEqual',
  'nameNotLike',
  'owner',
  'parentTaskId',
  'processDefinitionId',
  'processDefinitionKey',
  'processDefinitionName',
  'processDefinitionNameLike',
  'processInstanceBusinessKey',
  'processInstanceBusinessKeyLike',
  'processInstanceId',
  'taskDefinitionKey',
  'taskDefinitionKeyLike',
  'taskId',
] as const
const EXPRESSIONS = [
  'assigneeExpression',
  'assigneeLikeExpression',
  'candidateGroupExpression',
  'candidateGroupsExpression',
  'candidateUserExpression',
  'createdAfterExpression',
  'createdBeforeExpression',
  'createdOnExpression',
  'dueAfterExpression',
  'dueBeforeExpression',
  'dueDateExpression',
  'followUpAfterExpression',
  'followUpBeforeExpression',
  'followUpBeforeOrNotExistentExpression',
  'followUpDateExpression',
  'involvedUserExpression',
  'ownerExpression',
  'processInstanceBusinessKeyExpression',
  'processInstanceBusinessKeyLikeExpression',
  'updatedAfterExpression',
] as const
const ARRAYS = [
  'activityInstanceIdIn',
  'assigneeIn',
  'assigneeNotIn',
  'processDefinitionKeyIn',
  'processInstanceBusinessKeyIn',
  'processInstanceIdIn',
  'taskDefinitionKeyIn',
  'taskIdIn',
  'tenantIdIn',
] as const
const BOOLEANS = [
  'active',
  'assigned',
  'includeAssignedTasks',
  'suspended',
  'unassigned',
  'variableNamesIgnoreCase',
  'variableValuesIgnoreCase',
  'withCandidateGroups',
  'withCandidateUsers',
  'withCommentAttachmentInfo',
  'withoutCandidateGroups',
  'withoutCandidateUsers',
  'withoutDueDate',
  'withoutTenantId',
] as const
/** `created`, `due` and `followUp` are older names of `createdOn`, `dueDate` and `followUpDate`. */
const DATES = [
  'created',
  'createdAfter',
  'createdBefore',
  'createdOn',
  'due',
  'dueAfter',
  'dueBefore',
  'dueDate',
  'followUp',
  'followUpAfter',
  'followUpBefore',
  'followUpBeforeOrNotExistent',
  'followUpDate',
  'updatedAfter',
] as const
const INTEGERS = ['maxPriority', 'minPriority', 'priority'] as const
const FILTERS = ['taskVariables', 'processVariables', 'caseInstanceVariables'] as const

export const taskSorts = sortsOf('TaskQueryDto')

/** Reads a task query from a query string. */
export function readTaskQuery(parameters: RequestData['query'], isDateText: IsDateText): QueryText {
  return readQuery(parameters, { kinds: PARAMETERS, names: ALIASES, isDateText })
}

const PARAMETERS = {
  ...each([...TEXTS, ...EXPRESSIONS], 'text' as const),
  ...each(ARRAYS, 'texts' as const),
  ...each(BOOLEANS, 'boolean' as const),
  ...each(DATES, 'date' as const),
  ...each(INTEGERS, 'integer' as const),
  ...each(FILTERS, 'variables' as const),
  ...sortParameters(taskSorts),
  candidateGroups: 'list' as const,
}

/** The parameters of a task query that the rules know. */
export const TASK_QUERY_PARAMETERS: ReadonlySet<string> = new Set(Object.keys(PARAMETERS))

/**
 * Parameters of newer engines (Camunda 7.23, Operaton). Camunda 7.22 ignores them in a query string and in a body, so no
 * rule judges them.
 */
const NEWER_PARAMETERS: ReadonlyMap<string, 'texts' | 'boolean'> = new Map([
  ['taskDefinitionKeyNotIn', 'texts'],
  ['withTaskLocalVariablesInReturn', 'boolean'],
  ['withTaskVariablesInReturn', 'boolean'],
])

/**
 * Converts the parameters of newer engines to members of a body. Returns null if the parameters include one that is not
 * known here, or one that the engine may not read as its body: such a query string has no body with the same meaning.
 */
export function readNewerParameters(
  parameters: RequestData['query'],
): Readonly<Record<string, unknown>> | null {
  const members: Record<string, unknown> = {}
  for (const [name, text] of parameters) {
    if (TASK_QUERY_PARAMETERS.has(name) || PAGING.some((one) => one === name)) continue
    const kind = NEWER_PARAMETERS.get(name)
    const isFlag = text === 'true' || text === 'false'
    if (kind === undefined || (kind === 'boolean' && !isFlag)) return null
    members[name] = kind === 'boolean' ? text === 'true' : splitAt(text, ',')
  }
  return members
}

/** Both names set the same member. If a query contains both, the later one counts. */
export const ALIASES = { created: 'createdOn', due: 'dueDate', followUp: 'followUpDate' }

function each<T extends string>(names: readonly string[], type: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, type]))
}
