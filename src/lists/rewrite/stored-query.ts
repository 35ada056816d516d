import { isRecord } from '../../request/value.ts'

/** The members of a query in a body. */
export type TaskQueryMembers = Readonly<Record<string, unknown>>

/** Members whose elements the engine appends to those of the stored query. */
const APPENDED: ReadonlySet<string> = new Set(['orQueries', 'sorting'])
/** Lists of conditions. A condition for a variable replaces the stored condition for the variable. */
const VARIABLES: ReadonlySet<string> = new Set(['taskVariables', 'processVariables', 'caseInstanceVariables'])

/**
 * Returns the task query that an engine executes for a filter: the query of the filter, as `GET /filter/{id}` shows it, extended by
 * the query of the request. The engine also applies conditions that it does not show, among them `taskId`, `taskIdIn`, `tenantIdIn`
 * and `assigneeNotIn`. The query without them may find more tasks, each of which is decided like every task.
 */
export function effectiveQuery(stored: TaskQueryMembers, extending: TaskQueryMembers): TaskQueryMembers {
  const query: Record<string, unknown> = { ...stored }
  for (const [name, value] of Object.entries(extending)) {
    // The engine ignores these values of a query that extends another.
    if (value === null || value === false || (Array.isArray(value) && value.length === 0)) continue
    query[name] = Array.isArray(value) ? merged(name, listIn(stored, name), value) : value
  }
  return query
}

function merged(name: string, before: readonly unknown[], added: readonly unknown[]): readonly unknown[] {
  if (APPENDED.has(name)) return [...before, ...added]
  if (!VARIABLES.has(name)) return added
  const names = new Set(added.map(nameOf))
  return [...before.filter((condition) => !names.has(nameOf(condition))), ...added]
}

function nameOf(condition: unknown): unknown {
  return isRecord(condition) ? condition['name'] : null
}

function listIn(query: TaskQueryMembers, name: string): readonly unknown[] {
  const value = query[name]
  return Array.isArray(value) ? value : []
}
