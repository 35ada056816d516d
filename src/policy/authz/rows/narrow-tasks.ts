import { targetPathOf } from '../../../request/target.ts'
import type { GrantedTasks } from './granted-tasks.ts'
import { appendTo, type Narrow } from './narrow.ts'
import { acceptDateText } from '../../validation/schemas/jackson.ts'
import { readTaskQuery } from '../../validation/schemas/task-query.ts'

const PAGING = new Set(['firstResult', 'maxResults'])

/** What of a task query a caller may see. */
interface Visible {
  /** Null: all tasks. It is not nothing. */
  readonly granted: GrantedTasks | null
  /** Tenants whose tasks may be seen beside those of no tenant; null: every tenant's. */
  readonly tenantIds: readonly string[] | null
}

/**
 * Adds the caller's restrictions to a task query as further or-blocks: the engine ANDs blocks with each other and with
 * the rest. A GET is asked as the POST that means the same.
 */
export function narrowTasks(visible: Visible): Narrow {
  return ({ method, path, body }, parameters) => {
    const route = targetPathOf(path)
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
      ...(granted.caseKey !== null && { caseDefinitionKey: granted.caseKey }),
    })
  if (tenantIds !== null)
    blocks.push({ withoutTenantId: true, ...(tenantIds.length > 0 && { tenantIdIn: tenantIds }) })
  return blocks
}

/**
 * The body that asks `POST /task` what a query string asks `GET /task` (engine 7.22: equal answers for every valid query).
 * Parameters that are not known are left out, as the engine passes over them.
 */
export function taskQueryOf(parameters: ReadonlyMap<string, string>): Buffer {
  return Buffer.from(JSON.stringify(readTaskQuery(parameters, acceptDateText).query ?? UNREADABLE))
}

/** A body that the engine refuses, as it refuses the query string: its words are asked for by the GET itself. */
const UNREADABLE = { sorting: 'unreadable' }

/** The parameters that stay in the query string of a POST. */
function pagingOf(parameters: ReadonlyMap<string, string>): string {
  const paging = new URLSearchParams([...parameters].filter(([name]) => PAGING.has(name))).toString()
  return paging === '' ? '' : `?${paging}`
}
