import type { Method } from '../../operations/table.ts'
import { isPaging } from '../../request/paging.ts'
import { targetPathOf } from '../../request/target.ts'
import type { GrantedTasks, HiddenTasks } from './granted-tasks.ts'
import { appendTo, type Narrow } from './narrow.ts'
import { acceptDateText } from '../../policy/validation/schemas/jackson.ts'
import { readNewerParameters, readTaskQuery } from '../../policy/validation/schemas/task-query.ts'

/** The part of a task query that a caller may see. */
interface VisibleTasks {
  /** Null if all tasks are granted. */
  readonly granted: GrantedTasks | null
  /** The tenants whose tasks are visible, besides tasks without a tenant. Null if the tasks of every tenant are. */
  readonly tenantIds: readonly string[] | null
}

/**
 * Adds the caller's restrictions to a task query as further or-blocks. The engine ANDs the blocks with each other and with
 * the rest of the query. A GET is sent as an equivalent POST; `canNarrow` returns whether there is one.
 */
export function narrowTasks(visible: VisibleTasks): Narrow {
  return ({ method, path, body }, parameters) => {
    const route = targetPathOf(path)
    const asked =
      method === 'POST'
        ? { path, body }
        : { path: route + pagingIn(parameters), body: taskQueryOf(parameters) ?? UNREADABLE }
    const narrowed = blocksOf(visible).reduce(
      (query, block) => appendTo(query, 'orQueries', block),
      asked.body,
    )
    return { method: 'POST', path: asked.path, body: narrowed }
  }
}

/** A query whose count is added to a result, or subtracted from it. */
export interface SignedCount {
  readonly narrow: Narrow
  readonly isSubtracted: boolean
}

/** Returns the queries whose counts give the number of all tasks of some tenants but the hidden ones. */
export function countsWithout(
  { processDefinitionKeys, shownIds, hiddenIds }: HiddenTasks,
  tenantIds: VisibleTasks['tenantIds'],
): readonly SignedCount[] {
  const ofTenants = narrowTasks({ granted: null, tenantIds })
  const within = (first: Narrow, granted: Partial<GrantedTasks>): Narrow => {
    const further = narrowTasks({ granted: { ...NO_TASKS, ...granted }, tenantIds: null })
    return (query, parameters) => {
      const narrowed = first(query, parameters)
      return narrowed === null ? null : further(narrowed, parameters)
    }
  }
  const ofKeys = within(ofTenants, { processDefinitionKeys })
  const hasKeys = processDefinitionKeys.length > 0
  return [
    { narrow: ofTenants, isSubtracted: false },
    ...(hasKeys ? [{ narrow: ofKeys, isSubtracted: true }] : []),
    ...(hasKeys && shownIds.length > 0
      ? [{ narrow: within(ofKeys, { taskIds: shownIds }), isSubtracted: false }]
      : []),
    ...(hiddenIds.length > 0
      ? [{ narrow: within(ofTenants, { taskIds: hiddenIds }), isSubtracted: true }]
      : []),
    // These are subtracted with their key and with their id.
    ...(hasKeys && hiddenIds.length > 0
      ? [{ narrow: within(ofKeys, { taskIds: hiddenIds }), isSubtracted: false }]
      : []),
  ]
}

const NO_TASKS: GrantedTasks = { processDefinitionKeys: [], taskIds: [], caseKey: null }

/** Empty lists are left out, because the engine ignores an empty `In` list and would return every task. */
function blocksOf({ granted, tenantIds }: VisibleTasks): readonly Readonly<Record<string, unknown>>[] {
  const blocks: Readonly<Record<string, unknown>>[] = []
  if (granted !== null)
    blocks.push({
      ...(granted.processDefinitionKeys.length > 0 && {
        processDefinitionKeyIn: granted.processDefinitionKeys,
      }),
      ...(granted.taskIds.length > 0 && { taskIdIn: granted.taskIds }),
      ...(granted.caseKey !== null && { caseDefinitionKey: granted.caseKey }),
    })
  if (tenantIds !== null)
    blocks.push({ withoutTenantId: true, ...(tenantIds.length > 0 && { tenantIdIn: tenantIds }) })
  return blocks
}

/** Returns whether the restrictions can be added to a request without the loss of a parameter. */
export function canNarrow(method: Method, parameters: ReadonlyMap<string, string>): boolean {
  return method === 'POST' || readNewerParameters(parameters) !== null
}

/**
 * Returns the body with which `POST /task` gives the same response as `GET /task` with a query string (compared with
 * Camunda 7.22 and 7.24 for every valid query). Returns null if the gateway does not know one of the parameters.
 */
export function taskQueryOf(parameters: ReadonlyMap<string, string>): Buffer | null {
  const newer = readNewerParameters(parameters)
  if (newer === null) return null
  const { query } = readTaskQuery(parameters, acceptDateText)
  return query === null ? UNREADABLE : Buffer.from(JSON.stringify({ ...query, ...newer }))
}

/**
 * A body that the engine refuses, because it also refuses the query string. The gateway then sends the original GET, to
 * return the engine's message for it.
 */
const UNREADABLE = Buffer.from(JSON.stringify({ sorting: 'unreadable' }))

/** Returns the query string of a POST: only paging stays there. */
export function pagingIn(parameters: ReadonlyMap<string, string>): string {
  const paging = new URLSearchParams([...parameters].filter(([name]) => isPaging(name))).toString()
  return paging === '' ? '' : `?${paging}`
}
