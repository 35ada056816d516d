import type { Rows } from '../../operations/notation.ts'
import { PREFILTERS, type Prefilter } from '../../operations/prefilters.ts'
import { compileRowPermissions } from '../../policy/authz/checks/compile-permission.ts'
import type { CompiledRows, RowCondition } from './compiled-rows.ts'
import { rowSubjectsOf } from './visible-set.ts'

/** Compiles a restriction of list items. @throws Error if the notation does not know a term, or a term does not name an item */
export function compileRows({ where, ...rows }: Rows): CompiledRows {
  const conditions: RowCondition[] =
    rows.allOf === undefined
      ? [{ permissions: compileRowPermissions(rows.anyOf ?? []) }]
      : rows.oneRecord === true
        ? [{ permissions: compileRowPermissions(rows.allOf), together: true }]
        : rows.allOf.map((term) => ({ permissions: compileRowPermissions([term]) }))
  if (rows.and !== undefined) conditions.push({ permissions: compileRowPermissions(rows.and) })
  const query: Prefilter | null = rows.prefilter === undefined ? null : PREFILTERS[rows.prefilter]
  if (query !== null) checkQuery(query, rows, conditions)
  return {
    form: rows.form ?? 'list',
    conditions,
    exempt: rows.exempt ?? null,
    tenanted: rows.crossTenant !== 'ignored',
    query,
    where:
      where === undefined ? null : { query: where.query, rows: compileRows({ ...rows, and: where.and }) },
  }
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
