import { RestError, isJson } from './http.ts'
import type { SandboxRequest, JsonObject } from './http.ts'

/** Predicates for the known members of a query: whether an item matches. `query` is for members that change the meaning of another member. */
export type Tests<R> = Readonly<Record<string, (row: R, value: unknown, query: JsonObject) => boolean>>

/** Returns the members of a query from the query string. If a name is repeated, the first value counts. */
export function queryOf(ask: SandboxRequest): JsonObject {
  const names = new Set(ask.query.keys())
  return Object.fromEntries([...names].map((name) => [name, ask.query.get(name)]))
}

/** Returns the items that match every member, and at least one member of each or-query. Unknown members are ignored. */
export function select<R>(rows: Iterable<R>, query: JsonObject, tests: Tests<R>): R[] {
  const blocks = Array.isArray(query['orQueries']) ? query['orQueries'].filter(isJson) : []
  const all = matchesOf(query, tests)
  const any = blocks.map((block) => matchesOf(block, tests)).filter((block) => block.length > 0)
  return [...rows].filter(
    (row) => all.every((fits) => fits(row)) && any.every((block) => block.some((fits) => fits(row))),
  )
}

function matchesOf<R>(query: JsonObject, tests: Tests<R>): ((row: R) => boolean)[] {
  return Object.entries(query).flatMap(([name, value]) => {
    const test = Object.hasOwn(tests, name) ? tests[name] : undefined
    return test === undefined || isUnset(value) ? [] : [(row: R) => test(row, value, query)]
  })
}

/** Returns true for a value that the engine ignores: null, a flag that is false, or an empty list. Such a member does not restrict the result. */
function isUnset(value: unknown): boolean {
  return (
    value === null || value === false || value === 'false' || (Array.isArray(value) && value.length === 0)
  )
}

/** Returns the page of items that `firstResult` and `maxResults` of the query string select. */
export function page<R>(ask: SandboxRequest, rows: readonly R[]): R[] {
  const first = numberOf(ask, 'firstResult') ?? 0
  const max = numberOf(ask, 'maxResults') ?? rows.length
  return rows.slice(first, first + max)
}

function numberOf(ask: SandboxRequest, name: string): number | null {
  const text = ask.query.get(name)
  if (text === null) return null
  if (/^\d+$/.test(text)) return Number(text)
  throw new RestError(404, 'QueryParamException', 'HTTP 404 Not Found')
}

/** Returns a list from a body, or from a query string in which commas separate the values. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : String(value).split(',')
}

/** Returns tests for members that must be equal to a member of the item: `equals({ assignee: 'assignee' })`. */
export function equals<R extends object>(columns: Readonly<Record<string, keyof R>>): Tests<R> {
  return testsOf(columns, (cell, value) => cell === value || cellText(cell) === value)
}

/** Returns a number or flag as it is written in a query string. */
function cellText(cell: unknown): string | null {
  return typeof cell === 'number' || typeof cell === 'boolean' ? String(cell) : null
}

/** Returns tests for members that list the accepted values of a member of the item. */
export function among<R extends object>(columns: Readonly<Record<string, keyof R>>): Tests<R> {
  return testsOf(columns, (cell, value) => listOf(value).includes(cell))
}

/** Returns tests for the tenants that a query selects. `include` is the flag that adds items without a tenant. */
export function ofTenants(include = ''): Tests<object> {
  return {
    tenantIdIn: (row, value, query) =>
      tenantOf(row) === null ? String(query[include]) === 'true' : listOf(value).includes(tenantOf(row)),
    withoutTenantId: (row) => tenantOf(row) === null,
  }
}

function tenantOf(row: object): unknown {
  return isJson(row) ? (row['tenantId'] ?? null) : null
}

function testsOf<R extends object>(
  columns: Readonly<Record<string, keyof R>>,
  fits: (cell: unknown, value: unknown) => boolean,
): Tests<R> {
  const entries = Object.entries(columns).map(
    ([member, column]) => [member, (row: R, value: unknown) => fits(row[column], value)] as const,
  )
  return Object.fromEntries(entries)
}
