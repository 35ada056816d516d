import { Fault, isJson } from './http.ts'
import type { Ask, Json } from './http.ts'

/** A query's known members: whether a row fits one. `query` is for members that change what another means. */
export type Tests<R> = Readonly<Record<string, (row: R, value: unknown, query: Json) => boolean>>

/** A query's members from the query string; the first of a repeated name wins. */
export function queryOf(ask: Ask): Json {
  const names = new Set(ask.query.keys())
  return Object.fromEntries([...names].map((name) => [name, ask.query.get(name)]))
}

/** The rows that fit every member and, in each or-block, at least one. Unknown members are ignored. */
export function select<R>(rows: Iterable<R>, query: Json, tests: Tests<R>): R[] {
  const blocks = Array.isArray(query['orQueries']) ? query['orQueries'].filter(isJson) : []
  const all = matchesOf(query, tests)
  const any = blocks.map((block) => matchesOf(block, tests)).filter((block) => block.length > 0)
  return [...rows].filter(
    (row) => all.every((fits) => fits(row)) && any.every((block) => block.some((fits) => fits(row))),
  )
}

function matchesOf<R>(query: Json, tests: Tests<R>): ((row: R) => boolean)[] {
  return Object.entries(query).flatMap(([name, value]) => {
    const test = Object.hasOwn(tests, name) ? tests[name] : undefined
    return test === undefined || isUnset(value) ? [] : [(row: R) => test(row, value, query)]
  })
}

/** The engine ignores a flag that is false and a list that is empty: the whole table answers. */
function isUnset(value: unknown): boolean {
  return (
    value === null || value === false || value === 'false' || (Array.isArray(value) && value.length === 0)
  )
}

/** The rows between `firstResult` and `maxResults` of the query string. */
export function page<R>(ask: Ask, rows: readonly R[]): R[] {
  const first = numberOf(ask, 'firstResult') ?? 0
  const max = numberOf(ask, 'maxResults') ?? rows.length
  return rows.slice(first, first + max)
}

function numberOf(ask: Ask, name: string): number | null {
  const text = ask.query.get(name)
  if (text === null) return null
  if (/^\d+$/.test(text)) return Number(text)
  throw new Fault(404, 'QueryParamException', 'HTTP 404 Not Found')
}

/** A list from a body, or from a query string where commas part it. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : String(value).split(',')
}

/** Tests for members that name a column: `equals({ assignee: 'assignee' })`. */
export function equals<R extends object>(columns: Readonly<Record<string, keyof R>>): Tests<R> {
  return testsOf(columns, (cell, value) => cell === value || textOf(cell) === value)
}

/** A number or flag as a query string carries it. */
function textOf(cell: unknown): string | null {
  return typeof cell === 'number' || typeof cell === 'boolean' ? String(cell) : null
}

/** Tests for members that list a column's values. */
export function among<R extends object>(columns: Readonly<Record<string, keyof R>>): Tests<R> {
  return testsOf(columns, (cell, value) => listOf(value).includes(cell))
}

/** Tests for the tenants that a query asks for. `include`: the flag that adds the rows of none. */
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
