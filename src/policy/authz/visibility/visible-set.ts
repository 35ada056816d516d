import { RESOURCES } from '../../../operations/permissions.ts'
import type { Permission } from '../checks/compiled-permission.ts'
import { isAuthorized } from '../decision/decide.ts'
import { namedIds } from '../decision/granted-ids.ts'
import type { CompiledRestriction, ListSubject, ItemPermissions } from './compiled-restriction.ts'
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
export function visibleSetOf(
  restriction: CompiledRestriction,
  { key: keyName, instance, keyTypes }: ItemPermissions,
  subject: ListSubject,
): VisibleSet {
  const { records, principal, impliesIdentity } = subject
  // All ids whose decision may differ from that of an id that no record names.
  const candidates = new Set<string>(impliesIdentity ? [principal.userId, ...principal.groups] : [])
  for (const type of keyTypes) for (const id of namedIds(records, principal, type)) candidates.add(id)
  const instances = instance === null ? NO_INSTANCES : instancesOf(instance, subject)
  const untenanted = { ...restriction, exempt: null, tenanted: false }
  const isOpen = (key: string | null) =>
    isVisible(untenanted, {}, (name) => (name === keyName ? key : null), subject)
  const isAllBut = isOpen(null)
  const ids = new Set([...candidates].filter((id) => isOpen(id) !== isAllBut))
  return { keys: { isAllBut, ids }, instances }
}

/** Returns the ids of items that records name, with the decisions about them if the caller is their owner. */
export function ownedIdsOf(
  restriction: CompiledRestriction,
  { key: keyName, keyTypes }: ItemPermissions,
  subject: ListSubject,
): ReadonlyMap<string, boolean> {
  const { records, principal } = subject
  const attributeOf = (id: string) => (name: string) =>
    name === keyName ? id : name === 'owner' ? principal.userId : null
  return new Map(
    keyTypes.flatMap((type) =>
      [...namedIds(records, principal, type)].map(
        (id) => [id, isVisible(restriction, {}, attributeOf(id), subject)] as const,
      ),
    ),
  )
}

/** Returns whether records or links on tasks may open items. A set of keys and instances cannot express this. */
export function namesTasks({ records, principal, implicitGrants }: ListSubject): boolean {
  const isLinked = implicitGrants !== null && implicitGrants.user.size + implicitGrants.groups.size > 0
  return isLinked || namedIds(records, principal, RESOURCES.TASK.id).size > 0
}

const NO_INSTANCES: VisibleSet['instances'] = { granted: [], revoked: [] }

function instancesOf(permission: Permission, { records, principal }: ListSubject): VisibleSet['instances'] {
  const granted: string[] = []
  const revoked: string[] = []
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
