import { applyEdits, modify } from 'jsonc-parser'
import { bodyValue } from './asked.ts'

/** Members of a task query that hold lists; in a query string they are comma-separated. */
const LISTS = new Set([
  'activityInstanceIdIn',
  'assigneeIn',
  'assigneeNotIn',
  'candidateGroups',
  'processDefinitionKeyIn',
  'processInstanceBusinessKeyIn',
  'processInstanceIdIn',
  'taskDefinitionKeyIn',
  'taskIdIn',
  'tenantIdIn',
])
const VARIABLES = new Set(['taskVariables', 'processVariables', 'caseInstanceVariables'])
const BOOLEANS = new Set([
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
])
const NUMBERS = new Set(['priority', 'maxPriority', 'minPriority'])
const PAGING = new Set(['firstResult', 'maxResults'])

/** What of a task query a caller's records leave visible. At least one list has a member. */
export interface Visible {
  readonly processDefinitionKeys: readonly string[]
  readonly taskIds: readonly string[]
}

/**
 * Adds the caller's restriction to a task query as one more or-block: the engine ANDs blocks with each other and with
 * the rest. The query's own bytes stay as they are: numbers keep their digits. Empty lists are left out: the engine
 * ignores an empty `In` list and would answer everything.
 */
export function narrowTaskQuery(bytes: Buffer, { processDefinitionKeys, taskIds }: Visible): Buffer {
  const block = {
    ...(processDefinitionKeys.length > 0 && { processDefinitionKeyIn: processDefinitionKeys }),
    ...(taskIds.length > 0 && { taskIdIn: taskIds }),
  }
  const text = bytes.length === 0 ? '{}' : bytes.toString('utf8')
  const edits = Array.isArray(bodyValue(JSON.parse(text), 'orQueries'))
    ? modify(text, ['orQueries', -1], block, { isArrayInsertion: true })
    : modify(text, ['orQueries'], [block], {})
  return Buffer.from(applyEdits(text, edits))
}

/**
 * The body that asks `POST /task` what a query string asks `GET /task` (measured on engine 7.22: equal answers for
 * every valid query), and the paging that stays behind. Unknown parameters are ignored, as the engine does.
 */
export function taskQueryOf(query: ReadonlyMap<string, string>): {
  readonly body: Buffer
  readonly paging: string
} {
  const body: Record<string, unknown> = {}
  const paging = new URLSearchParams()
  for (const [name, value] of query) {
    if (PAGING.has(name)) paging.set(name, value)
    else if (LISTS.has(name)) body[name] = splitList(value)
    else if (VARIABLES.has(name)) body[name] = splitList(value).map(variableFilterOf)
    else if (BOOLEANS.has(name)) body[name] = value.toLowerCase() === 'true'
    else if (NUMBERS.has(name)) body[name] = /^-?\d+$/.test(value) ? Number(value) : value
    else body[name] = value
  }
  const text = paging.toString()
  return { body: Buffer.from(JSON.stringify(body)), paging: text === '' ? '' : `?${text}` }
}

/** Java's `split(",")`: empty pieces at the end are dropped. */
function splitList(value: string): string[] {
  const pieces = value.split(',')
  while (pieces.length > 1 && pieces.at(-1) === '') pieces.pop()
  return pieces
}

/** `name_operator_value`; values stay text. What does not have three parts goes on as it is, for the engine to refuse. */
function variableFilterOf(text: string): unknown {
  const [name, operator, value, ...rest] = text.split('_')
  return value === undefined || rest.length > 0 ? text : { name, operator, value }
}
