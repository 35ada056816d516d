import type { Prefilter } from '../../operations/prefilters.ts'
import type { Method } from '../../operations/table.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import { bodyValue } from '../../request/body.ts'
import { splitAt } from '../../request/java-text.ts'
import { isPaging } from '../../request/paging.ts'
import { isObject } from '../../request/value.ts'

/** The values in the caller's query of the members that a plan would set. */
export interface OwnQuery {
  readonly key: string | null
  readonly keys: readonly string[] | null
  readonly exceptKeys: readonly string[] | null
  readonly definition: string | null
  readonly instances: readonly string[] | null
  readonly instance: string | null
  readonly owner: string | null
  readonly tenantIds: readonly string[] | null
  readonly isWithoutTenant: boolean
  /** `other` if the order of two items cannot be determined. */
  readonly sort: OwnSort | 'other' | null
  /** The names of all members of the query except paging. */
  readonly names: ReadonlySet<string>
  /** Whether the query contains nothing that the engine could refuse. */
  readonly isPlain: boolean
}

/** A query without conditions. */
export const NO_CONDITION: OwnQuery = {
  key: null,
  keys: null,
  exceptKeys: null,
  definition: null,
  instances: null,
  instance: null,
  owner: null,
  tenantIds: null,
  isWithoutTenant: false,
  sort: null,
  names: new Set(),
  isPlain: true,
}

export interface OwnSort {
  readonly by: string
  readonly isDescending: boolean
}

/** The conditions of a query. The table has the names of their members. */
const CONDITIONS = ['key', 'keys', 'exceptKeys', 'definition', 'instances', 'instance', 'owner'] as const

/** Reads a query before a plan sets members in it. Returns null if a part of it cannot be read with certainty. */
export function ownQueryOf(query: Prefilter, method: Method, request: AccessRequest): OwnQuery | null {
  const isBody = method === 'POST'
  const members = isBody ? membersOf(request.body) : request.query
  if (members === null) return null
  const names = new Set([...members.keys()].filter((name) => !isPaging(name)))
  if (names.size === 0) return NO_CONDITION
  const withoutTenantId = members.get('withoutTenantId')
  const own: OwnQuery = {
    key: textIn(members, query.key),
    keys: listIn(members, query.keys, isBody),
    exceptKeys: listIn(members, query.exceptKeys, isBody),
    definition: textIn(members, query.definition),
    instances: listIn(members, query.instances, isBody),
    instance: textIn(members, query.instance),
    owner: textIn(members, query.owner),
    tenantIds: listIn(members, 'tenantIdIn', isBody),
    isWithoutTenant: withoutTenantId === true || withoutTenantId === 'true',
    sort: sortIn(members),
    names,
    isPlain: [...names].every((name) => CONDITIONS.some((condition) => query[condition] === name)),
  }
  // The engine may read a value differently that is not read here. There is no plan for a query that contains it.
  const isUnread =
    CONDITIONS.some((condition) => own[condition] === null && names.has(query[condition] ?? '')) ||
    (own.tenantIds === null && names.has('tenantIdIn')) ||
    !FLAGS.has(withoutTenantId)
  /*
   * The query may select both items of named tenants and items without a tenant. The engine applies one of the two conditions
   * (Camunda 7.22): `tenantIdIn` in the reports of cleanable instances, and `withoutTenantId` in other lists.
   */
  const isOfTwoTenants = own.tenantIds !== null && own.isWithoutTenant
  return isUnread || isOfTwoTenants || ['orQueries', query.tenants].some((name) => names.has(name))
    ? null
    : own
}

/** Returns whether a query names no definition and no instance. */
export function isOfAll(own: OwnQuery): boolean {
  return CONDITIONS.every((condition) => own[condition] === null)
}

const FLAGS: ReadonlySet<unknown> = new Set([undefined, true, false, 'true', 'false'])

/** Returns the members of a body. A member that is null counts as absent. */
function membersOf(body: unknown): ReadonlyMap<string, unknown> | null {
  if (body === undefined) return new Map()
  if (!isObject(body)) return null
  return new Map(
    Object.keys(body).flatMap((name) => {
      const value = bodyValue(body, name) ?? null
      return value === null ? [] : [[name, value] as const]
    }),
  )
}

/** Returns a text. Null if the query has no such member, or if the engine may read it differently. */
function textIn(members: ReadonlyMap<string, unknown>, name: string | undefined): string | null {
  const value = name === undefined ? undefined : members.get(name)
  return typeof value === 'string' && value !== '' ? value : null
}

/** Returns the parts of a comma-separated text, or the texts of a list in a body. Null as for a text, and for an empty list, which the engine ignores. */
function listIn(
  members: ReadonlyMap<string, unknown>,
  name: string | undefined,
  isBody: boolean,
): readonly string[] | null {
  const value = name === undefined ? undefined : members.get(name)
  const split = typeof value === 'string' && !isBody ? splitAt(value, ',') : []
  const list: readonly unknown[] = isBody && Array.isArray(value) ? value : split
  const texts = list.filter((one): one is string => typeof one === 'string' && one !== '')
  return texts.length === list.length && texts.length > 0 ? texts : null
}

function sortIn(members: ReadonlyMap<string, unknown>): OwnQuery['sort'] {
  const sorting = members.get('sorting')
  const [by, order] = [members.get('sortBy'), members.get('sortOrder')]
  if (sorting === undefined) return by === undefined && order === undefined ? null : sortOf(by, order)
  const [only, ...others]: readonly unknown[] = Array.isArray(sorting) ? sorting : []
  const isSingle = isObject(only) && others.length === 0 && by === undefined && order === undefined
  return isSingle ? sortOf(only['sortBy'], only['sortOrder']) : 'other'
}

function sortOf(by: unknown, order: unknown): OwnQuery['sort'] {
  if (typeof by !== 'string' || (order !== 'asc' && order !== 'desc')) return 'other'
  return { by, isDescending: order === 'desc' }
}
