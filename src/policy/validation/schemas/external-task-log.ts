import { boolean, list, long, object, string } from './jackson.ts'
import type { RuleResult, Members, ValidationRule } from './engine-error.ts'
import { firstOf, itemsOf, membersOf, engineException } from './engine-error.ts'
import type { Sorts } from './sorting.ts'
import { directionFinding, sortingFinding, sortMembers } from './sorting.ts'

const sorts: Sorts = {
  by: [
    'timestamp',
    'externalTaskId',
    'retries',
    'priority',
    'topicName',
    'workerId',
    'activityId',
    'activityInstanceId',
    'executionId',
    'processInstanceId',
    'processDefinitionId',
    'processDefinitionKey',
    'tenantId',
  ],
}

const MEMBERS = {
  logId: string,
  externalTaskId: string,
  topicName: string,
  workerId: string,
  errorMessage: string,
  activityIdIn: list(string),
  activityInstanceIdIn: list(string),
  executionIdIn: list(string),
  processInstanceId: string,
  processDefinitionId: string,
  processDefinitionKey: string,
  priorityHigherThanOrEquals: long,
  priorityLowerThanOrEquals: long,
  tenantIdIn: list(string),
  withoutTenantId: boolean,
  creationLog: boolean,
  failureLog: boolean,
  successLog: boolean,
  deletionLog: boolean,
  ...sortMembers(sorts),
}

export const externalTaskLogQuery = object(MEMBERS)

/** The members of the query that the rules know. */
export const EXTERNAL_TASK_LOG_MEMBERS: ReadonlySet<string> = new Set(Object.keys(MEMBERS))

export const externalTaskLogRules: readonly ValidationRule[] = [
  { find: ({ body }) => queryFinding(membersOf(body)) },
]

/** If one of the lists contains null, the engine's message calls it `activityIds`. If it contains '', the message uses the list's own name. */
const LISTS = {
  activityIdIn: 'activityIds',
  activityInstanceIdIn: 'activityInstanceIds',
  executionIdIn: 'executionIds',
}

function queryFinding(query: Members): RuleResult {
  return (
    firstOf(Object.entries(LISTS), ([member, name]) => listFinding(itemsOf(query[member]), name)) ??
    tenantFinding(itemsOf(query['tenantIdIn'])) ??
    sortingFinding(query, sorts) ??
    directionFinding(query, sorts)
  )
}

function listFinding(items: readonly unknown[], name: string): RuleResult {
  if (items.includes(null))
    return engineException(400, 'NotValidException', 'activityIds contains null value')
  return items.includes('')
    ? engineException(400, 'NotValidException', `${name} contains empty string`)
    : null
}

function tenantFinding(items: readonly unknown[]): RuleResult {
  return items.includes(null)
    ? engineException(500, 'NullValueException', 'tenantIds contains null value')
    : null
}
