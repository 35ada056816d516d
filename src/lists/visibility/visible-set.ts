import { RESOURCES } from '../../operations/permissions.ts'
import type { Permission } from '../../policy/authz/checks/compiled-permission.ts'
import { isAuthorized } from '../../policy/authz/decision/decide.ts'
import { namedIds } from '../../policy/authz/decision/granted-ids.ts'
import type { CompiledRows, ListSubject } from './compiled-rows.ts'
import { isVisible } from './visibility.ts'

/** A set of ids, or all ids except those in the set. */
export interface IdSet {
  readonly isAllBut: boolean
  readonly ids: ReadonlySet<string>
}

/** The decisions of the records about items, made without reading an item. The key decides the items of an instance that is in neither list. */
export interface VisibleSet {
  /** The keys of definitions, or the ids of items that have their own permissions. */
  readonly keys: IdSet
  readonly instances: { readonly granted: readonly string[]; readonly revoked: readonly string[] }
}

/**
 * Returns the keys and instances whose items a caller sees, regardless of tenants. Each key that a record names is decided
 * like an item with this key. All others are decided like a key that no record names.
 */
export function visibleSetOf(rows: CompiledRows, subject: ListSubject): VisibleSet {
  const { key: keyName, instance } = rowSubjectsOf(rows)
  const untenanted = { ...rows, exempt: null, tenanted: false }
  const isOpen = (key: string | null) =>
    isVisible(untenanted, {}, (name) => (name === keyName ? key : null), subject)
  const isAllBut = isOpen(null)
  const named = candidatesOf(rows, subject)
  const ids = new Set([...named].filter((id) => isOpen(id) !== isAllBut))
  return { keys: { isAllBut, ids }, instances: instancesOf(instance, subject) }
}

/**
 * Returns the permissions that decide the items of a restriction. @throws Error if they are not one key, with an optional
 * instance before it or task after it
 */
export function rowSubjectsOf({ conditions }: Pick<CompiledRows, 'conditions'>): {
  readonly key: string
  readonly instance: Permission | null
  readonly task: Permission | null
} {
  const all = conditions.flatMap(({ permissions }) => permissions)
  const [first] = all
  const instance = conditions.length === 1 && first !== undefined && isOfInstance(first) ? first : null
  const task = conditions.length === 1 ? (all.find(({ resource }) => resource === 'TASK') ?? null) : null
  const keys = new Set(all.filter((one) => one !== instance && one !== task).map(nameOf))
  const [key] = keys
  const others = [instance, task].filter((one) => one !== null).length
  const isSingle = conditions.every(
    ({ permissions, together }) => together === true || permissions.length === 1 + others,
  )
  if (key === undefined || keys.size > 1 || !isSingle)
    throw new Error('rows have a query, but are not decided by one key, with an instance or a task beside it')
  return { key, instance, task }
}

/** Returns whether records or links on tasks may open items. A set of keys and instances cannot express this. */
export function namesTasks(rows: CompiledRows, { records, principal, implicitGrants }: ListSubject): boolean {
  if (rowSubjectsOf(rows).task === null) return false
  const isLinked = implicitGrants !== null && implicitGrants.user.size + implicitGrants.groups.size > 0
  return isLinked || namedIds(records, principal, RESOURCES.TASK.id).size > 0
}

function isOfInstance({ resource, attribute }: Permission): boolean {
  return resource === 'PROCESS_INSTANCE' && 'name' in attribute && attribute.name === 'processInstanceId'
}

function nameOf({ attribute }: Permission): string | undefined {
  return 'name' in attribute ? attribute.name : undefined
}

/** Returns all ids whose decision may differ from that of an id that no record names. */
function candidatesOf(
  rows: CompiledRows,
  { records, principal, impliesIdentity }: ListSubject,
): ReadonlySet<string> {
  const { instance } = rowSubjectsOf(rows)
  const types = rows.conditions
    .flatMap(({ permissions }) => permissions)
    .filter((one) => one !== instance)
    .map(({ resource }) => RESOURCES[resource].id)
  const ids = new Set<string>(impliesIdentity ? [principal.userId, ...principal.groups] : [])
  for (const type of new Set(types)) for (const id of namedIds(records, principal, type)) ids.add(id)
  return ids
}

function instancesOf(
  permission: Permission | null,
  { records, principal }: ListSubject,
): VisibleSet['instances'] {
  const granted: string[] = []
  const revoked: string[] = []
  if (permission !== null)
    for (const id of namedIds(records, principal, RESOURCES[permission.resource].id)) {
      const response = isAuthorized(records, principal, { ...permission, id })
      if (response === true) granted.push(id)
      if (response === false) revoked.push(id)
    }
  return { granted, revoked }
}

export function has({ isAllBut, ids }: IdSet, id: string): boolean {
  return ids.has(id) !== isAllBut
}

export function isNone({ isAllBut, ids }: IdSet): boolean {
  return !isAllBut && ids.size === 0
}

export function isAll({ isAllBut, ids }: IdSet): boolean {
  return isAllBut && ids.size === 0
}

/** Returns the set of the ids that are in both. */
export function intersect(set: IdSet, ids: readonly string[]): IdSet {
  return { isAllBut: false, ids: new Set(ids.filter((id) => has(set, id))) }
}
