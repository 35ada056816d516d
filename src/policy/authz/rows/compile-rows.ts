import type { Rows } from '../../../operations/notation.ts'
import { compileRowPermissions } from '../checks/compile-permission.ts'
import type { CompiledRows, RowCondition } from './compiled-rows.ts'

/** Compiles a restriction of rows. @throws Error on a term that the notation does not know, or that does not ask about rows */
export function compileRows({ where, ...rows }: Rows): CompiledRows {
  const conditions: RowCondition[] =
    rows.allOf === undefined
      ? [{ permissions: compileRowPermissions(rows.anyOf ?? []) }]
      : rows.oneRecord === true
        ? [{ permissions: compileRowPermissions(rows.allOf), together: true }]
        : rows.allOf.map((term) => ({ permissions: compileRowPermissions([term]) }))
  if (rows.and !== undefined) conditions.push({ permissions: compileRowPermissions(rows.and) })
  return {
    form: rows.form ?? 'list',
    conditions,
    exempt: rows.exempt ?? null,
    tenanted: rows.tenants !== 'ignored',
    where:
      where === undefined ? null : { query: where.query, rows: compileRows({ ...rows, and: where.and }) },
  }
}
