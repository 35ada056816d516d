import type { Rows } from '../../operations/notation.ts'
import { type Prefilter, prefilterOf } from '../../operations/prefilters.ts'
import { compileRowPermissions } from '../../policy/authz/checks/compile-permission.ts'
import type { CompiledRows, RowCondition } from './compiled-rows.ts'
import { rowSubjectsOf } from './visible-set.ts'

/** Compiles a restriction of list items. @throws Error if the notation does not know a term, or a term does not name an item */
export function compileRows(rows: Rows): CompiledRows {
  const conditions: RowCondition[] =
    rows.allOf === undefined
      ? [{ permissions: compileRowPermissions(rows.anyOf ?? []) }]
      : rows.sameRecord === true
        ? [{ permissions: compileRowPermissions(rows.allOf), together: true }]
        : rows.allOf.map((term) => ({ permissions: compileRowPermissions([term]) }))
  if (rows.and !== undefined && rows.and.when === undefined)
    conditions.push({ permissions: compileRowPermissions(rows.and.anyOf) })
  const query = prefilterOf(rows.prefilter)
  if (query !== null) checkQuery(query, rows, conditions)
  return {
    form: rows.form ?? 'list',
    conditions,
    exempt: rows.exempt ?? null,
    tenanted: rows.crossTenant !== 'ignored',
    query,
    where: compileWhere(rows),
  }
}

/** Compiles the restriction that applies if the query parameter of the second condition is true. */
function compileWhere({ and, ...rows }: Rows): CompiledRows['where'] {
  const [, query] = /^query:(\w+) is true$/.exec(and?.when ?? '') ?? []
  if (and === undefined || query === undefined) return null
  return { query, rows: compileRows({ ...rows, and: { anyOf: and.anyOf } }) }
}

/** Checks that the query can select the visible items. @throws Error if it cannot */
function checkQuery(query: Prefilter, { form }: Rows, conditions: readonly RowCondition[]): void {
  const { instance } = rowSubjectsOf({ conditions })
  if (form !== undefined && form !== 'count') throw new Error(`rows in the form of ${form} have no query`)
  if (query[query.by] === undefined)
    throw new Error(`the rows' query is by ${query.by}, and names no parameter for it`)
  if (instance !== null && query.isHistory === true)
    throw new Error('instances that are running decide no history')
}
