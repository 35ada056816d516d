import type { Rows } from '../operations/notation.ts'
import type { AtomOptions, Permission } from './atoms.ts'
import { permissionsOf } from './atoms.ts'
import type { Principal } from './credentials.ts'
import { grantedIds } from './granted-ids.ts'
import type { Records } from './records.ts'
import { usesRevokes } from './records.ts'

/** A row's restriction, taken apart once. */
export interface CompiledRows {
  /** Every one of these must hold for a visible row. */
  readonly conditions: readonly Condition[]
  readonly exempt: Rows['exempt'] | null
}

interface Condition {
  readonly permissions: readonly Permission[]
}

/** How much of a query's answer the caller may see: everything, nothing, or rows that the records name. */
export type Scope = 'all' | 'none' | 'some'

export function compileRows(rows: Rows, options: AtomOptions): CompiledRows {
  const conditions: Condition[] =
    rows.allOf === undefined
      ? [{ permissions: permissionsOf(rows.anyOf ?? [], options) }]
      : rows.allOf.map((atom) => ({ permissions: permissionsOf([atom], options) }))
  if (rows.and !== undefined) conditions.push({ permissions: permissionsOf(rows.and, options) })
  return { conditions, exempt: rows.exempt ?? null }
}

export function scopeOf(rows: CompiledRows, principal: Principal, records: Records): Scope {
  const scopes = rows.conditions.map((condition) => conditionScope(condition, principal, records))
  if (scopes.includes('none')) return 'none'
  return scopes.includes('some') ? 'some' : 'all'
}

/**
 * Without revocations any yes on `*` opens every row. With them the first atom that has an answer decides a row, so a
 * yes on `*` opens every row only if no atom before it, and no revocation beside it, speaks about single ids.
 */
function conditionScope({ permissions }: Condition, principal: Principal, records: Records): Scope {
  const all = permissions.map((permission) => grantedIds(records, principal, permission))
  if (!usesRevokes(records, principal)) {
    if (all.some(({ any }) => any === true)) return 'all'
    return all.some(({ ids }) => ids.length > 0) ? 'some' : 'none'
  }
  const last = all.findIndex(({ any }) => any !== null)
  const heard = last < 0 ? all : all.slice(0, last + 1)
  const speaksOfIds = heard.some(
    ({ ids, revokedIds }, at) => revokedIds.length > 0 || (at < last && ids.length > 0),
  )
  if (all[last]?.any === true) return speaksOfIds ? 'some' : 'all'
  return heard.some(({ ids }) => ids.length > 0) ? 'some' : 'none'
}

/** Ids that one atom of the restriction grants: for narrowing a query. Only without revocations, where a yes is final. */
export function idsGranted(
  rows: CompiledRows,
  resource: Permission['resource'],
  about: { principal: Principal; records: Records },
): readonly string[] {
  const atoms = rows.conditions
    .flatMap(({ permissions }) => permissions)
    .filter((permission) => permission.resource === resource)
  return [...new Set(atoms.flatMap((atom) => grantedIds(about.records, about.principal, atom).ids))]
}
