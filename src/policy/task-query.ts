import { appendTo, type Narrow } from './narrow.ts'

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

/** What of a task query a caller may see. */
export interface Visible {
  /** Tasks that the records name; null: all of them. At least one list has a member. */
  readonly granted: {
    readonly processDefinitionKeys: readonly string[]
    readonly taskIds: readonly string[]
  } | null
  /** Tenants whose tasks may be seen beside those of no tenant; null: every tenant's. */
  readonly tenantIds: readonly string[] | null
}

/**
 * Adds the caller's restrictions to a task query as further or-blocks: the engine ANDs blocks with each other and with
 * the rest. A GET is asked as the POST that means the same.
 */
export function narrowTasks(visible: Visible): Narrow {
  return ({ method, path, body }, parameters) => {
    const [route = ''] = path.split('?', 1)
    const asked =
      method === 'POST'
        ? { path, body }
        : { path: route + pagingOf(parameters), body: taskQueryOf(parameters) }
    const narrowed = blocksOf(visible).reduce(
      (query, block) => appendTo(query, 'orQueries', block),
      asked.body,
    )
    return { method: 'POST', path: asked.path, body: narrowed }
  }
}

/** Empty lists are left out: the engine ignores an empty `In` list and would answer everything. */
function blocksOf({ granted, tenantIds }: Visible): readonly Readonly<Record<string, unknown>>[] {
  const blocks: Readonly<Record<string, unknown>>[] = []
  if (granted !== null)
    blocks.push({
      ...(granted.processDefinitionKeys.length > 0 && {
        processDefinitionKeyIn: granted.processDefinitionKeys,
      }),
      ...(granted.taskIds.length > 0 && { taskIdIn: granted.taskIds }),
    })
  if (tenantIds !== null)
    blocks.push({ withoutTenantId: true, ...(tenantIds.length > 0 && { tenantIdIn: tenantIds }) })
  return blocks
}

/**
 * The body that asks `POST /task` what a query string asks `GET /task` (measured on engine 7.22: equal answers for
 * every valid query). Unknown parameters are ignored, as the engine does.
 */
export function taskQueryOf(parameters: ReadonlyMap<string, string>): Buffer {
  const body: Record<string, unknown> = {}
  for (const [name, value] of parameters) {
    if (PAGING.has(name)) continue
    if (LISTS.has(name)) body[name] = splitList(value)
    else if (VARIABLES.has(name)) body[name] = splitList(value).map(variableFilterOf)
    else if (BOOLEANS.has(name)) body[name] = value.toLowerCase() === 'true'
    else if (NUMBERS.has(name)) body[name] = /^-?\d+$/.test(value) ? Number(value) : value
    else body[name] = value
  }
  return Buffer.from(JSON.stringify(body))
}

/** The parameters that stay in the query string of a POST. */
function pagingOf(parameters: ReadonlyMap<string, string>): string {
  const paging = new URLSearchParams([...parameters].filter(([name]) => PAGING.has(name))).toString()
  return paging === '' ? '' : `?${paging}`
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
