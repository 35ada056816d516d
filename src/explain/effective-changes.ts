import { GLOBAL, resourceOfType } from '../operations/authorization-record.ts'
import { RESOURCES, type ResourceName } from '../operations/permissions.ts'
import type { Principal } from '../request/principal.ts'
import { isAdmin } from '../policy/authz/decision/admin.ts'
import { isAuthorized } from '../policy/authz/decision/decide.ts'
import { namedIds } from '../policy/authz/decision/granted-ids.ts'
import type { PermissionCheck } from '../policy/authz/decision/permission-check.ts'
import { identityBits } from '../policy/authz/entities/implicit-grants.ts'
import { usesRevokes } from '../policy/authz/records/records.ts'
import {
  type ComparedPolicies,
  type ComparedPolicy,
  type Pair,
  permissionsOfType,
  type RecordChange,
} from './compared-policy.ts'
import { decidingRecord } from './deciding-record.ts'
import type { DecidingRecord } from './explanation.ts'

/** A caller whose decisions are compared. `group`: a user with only this group. `everybody`: a user without groups. */
export interface ComparedSubject {
  readonly kind: 'user' | 'group' | 'everybody'
  readonly name: string
}

/** The decision about one permission on one id. A disabled permission is not checked. */
export type PermissionState = 'granted' | 'revoked' | 'no record' | 'not checked'

/** A permission on an id with another decision than before. */
export interface EffectiveChange {
  /** The name of the resource in the engine's messages. */
  readonly resource: string
  /** `*` for all ids except `except`. */
  readonly resourceId: string
  readonly permission: string
  /** The ids that records name and that do not share the change of `*`. They have changes of their own, or none. */
  readonly except: readonly string[]
  readonly state: Pair<PermissionState>
  readonly decidedBy: Pair<DecidingRecord | null>
}

export interface SubjectChanges {
  /** Subjects with equal changes. */
  readonly subjects: readonly ComparedSubject[]
  readonly changes: readonly EffectiveChange[]
}

/** A changed record that changes nothing for a subject, with the record that decides instead. */
export interface CoveredChange {
  readonly record: RecordChange
  readonly permission: string
  readonly subject: ComparedSubject
  readonly state: PermissionState
  readonly decidedBy: Pair<DecidingRecord | null>
}

/** The groups and tenants of a user, or the role of an administrator, that one policy lacks. */
export interface UserChange {
  readonly user: string
  readonly change: 'added' | 'removed' | 'changed'
  readonly groups: Gains
  readonly tenants: Gains
  readonly administrator: 'gained' | 'lost' | null
}

interface Gains {
  readonly gained: readonly string[]
  readonly lost: readonly string[]
}

type Cells = Map<number, Set<string>>

/** The ids on which a record of each subject has changed, by resource type. */
interface ChangedCells {
  readonly users: Map<string, Cells>
  readonly groups: Map<string, Cells>
  readonly global: Cells
}

/** The id of a user that no record and no source names. */
const NO_USER = '\u0000no user'

/** Compares the effective permissions of two policies. It uses the functions that decide requests. */
export class EffectiveComparison {
  readonly #policies: ComparedPolicies
  readonly #cells: ChangedCells
  readonly #hasOtherSettings: boolean
  readonly #groups: ReadonlySet<string>

  constructor(policies: ComparedPolicies, records: readonly RecordChange[]) {
    this.#policies = policies
    this.#cells = changedCellsOf(records)
    const [before, after] = [policies.before, policies.after].map(settingsTextOf)
    this.#hasOtherSettings = before !== after || policies.before.policies !== policies.after.policies
    this.#groups = groupsOf(policies)
  }

  /** Returns whether any decision about a caller may differ. */
  isAffected({ before, after }: Pair<Principal>): boolean {
    return this.#cellsOf({ before, after }).size > 0
  }

  /** Returns the changed permissions of everybody, of each group, and of each user that both policies have. */
  changes(): readonly SubjectChanges[] {
    const bySignature = new Map<
      string,
      { subjects: ComparedSubject[]; changes: readonly EffectiveChange[] }
    >()
    const add = (subject: ComparedSubject, changes: readonly EffectiveChange[]): void => {
      if (changes.length === 0) return
      const signature = JSON.stringify(changes)
      const known = bySignature.get(signature)
      if (known === undefined) bySignature.set(signature, { subjects: [subject], changes })
      else known.subjects.push(subject)
    }
    add({ kind: 'everybody', name: '*' }, this.changesOf(same({ userId: NO_USER, groups: [], tenants: [] })))
    for (const name of this.#groups)
      add({ kind: 'group', name }, this.changesOf(same({ userId: NO_USER, groups: [name], tenants: [] })))
    const byClass = new Map<string, readonly EffectiveChange[]>()
    for (const [name, pair] of this.#users()) {
      const key = this.#classOf(pair)
      const changes = (key === null ? null : byClass.get(key)) ?? this.changesOf(pair)
      if (key !== null) byClass.set(key, changes)
      add({ kind: 'user', name }, changes)
    }
    return [...bySignature.values()]
  }

  /** Returns the changed permissions of one caller. */
  changesOf(pair: Pair<Principal>): readonly EffectiveChange[] {
    const changes: EffectiveChange[] = []
    for (const [type, ids] of this.#cellsOf(pair)) {
      const resource = resourceOfType(type)
      if (resource === null) continue
      for (const permission of permissionsOfType(type))
        changes.push(...this.#changesOfPermission(pair, { resource, permission, ids }))
    }
    return changes
  }

  /** Returns the changed records without an effect on the user or group that they name, with the reason. */
  covered(records: readonly RecordChange[]): readonly CoveredChange[] {
    const members = membersOf(this.#users())
    return records.flatMap((record) => {
      const { groupId, userId, type } = record
      if (type === GLOBAL) return this.#coveredFor(record, { kind: 'everybody', name: '*' }, same(ANYBODY))
      if (groupId != null)
        return [
          ...this.#coveredFor(
            record,
            { kind: 'group', name: groupId },
            same({ ...ANYBODY, groups: [groupId] }),
          ),
          ...(members.get(groupId) ?? []).flatMap(([name, pair]) =>
            this.#coveredFor(record, { kind: 'user', name }, pair),
          ),
        ]
      const pair = this.#userOf(userId ?? '')
      return pair === null ? [] : this.#coveredFor(record, { kind: 'user', name: userId ?? '' }, pair)
    })
  }

  /** Returns the users that only one policy has, and those with other groups, tenants or roles. */
  userChanges(): readonly UserChange[] {
    const { before, after } = this.#policies
    if (before.users === null || after.users === null) return []
    const [old, fresh] = [before.users, after.users]
    const names = new Set([...old.keys(), ...fresh.keys()])
    return [...names].flatMap(
      (user) => this.#userChangeOf(user, { before: old.get(user), after: fresh.get(user) }) ?? [],
    )
  }

  /** Returns null if nothing differs. */
  #userChangeOf(user: string, { before, after }: Pair<Principal | undefined>): UserChange | null {
    const groups = gainsOf(before?.groups, after?.groups)
    const tenants = gainsOf(before?.tenants, after?.tenants)
    const administrator = this.#roleChangeOf({ before, after })
    const common = { user, groups, tenants, administrator }
    if (before === undefined) return { ...common, change: 'added' }
    if (after === undefined) return { ...common, change: 'removed' }
    const isSame = [groups, tenants].every(({ gained, lost }) => gained.length + lost.length === 0)
    return isSame && administrator === null ? null : { ...common, change: 'changed' }
  }

  #roleChangeOf({ before, after }: Pair<Principal | undefined>): UserChange['administrator'] {
    const wasAdmin = before !== undefined && isAdmin(before, this.#policies.before)
    const becomesAdmin = after !== undefined && isAdmin(after, this.#policies.after)
    if (wasAdmin === becomesAdmin) return null
    return becomesAdmin ? 'gained' : 'lost'
  }

  /** Returns the users that both policies have, or that records name if the users are unknown. */
  *#users(): Generator<readonly [string, Pair<Principal>]> {
    const { before, after } = this.#policies
    const names =
      before.users === null || after.users === null
        ? new Set([...before.records.named.users.keys(), ...after.records.named.users.keys()])
        : new Set(before.users.keys())
    for (const name of names) {
      const pair = this.#userOf(name)
      if (pair !== null && name !== '*') yield [name, pair]
    }
  }

  /** Returns null if one policy does not have the user. */
  #userOf(userId: string): Pair<Principal> | null {
    const { before, after } = this.#policies
    if (before.users === null || after.users === null) return same({ userId, groups: [], tenants: [] })
    const [old, fresh] = [before.users.get(userId), after.users.get(userId)]
    return old === undefined || fresh === undefined ? null : { before: old, after: fresh }
  }

  /** Returns the key of the users that have the same decisions as this one. Null if the decisions depend on the id of the user. */
  #classOf({ before, after }: Pair<Principal>): string | null {
    const { userId } = before
    const isNamed = [this.#policies.before, this.#policies.after].some(
      ({ records: { named, revoking } }) => named.users.has(userId) || revoking.users.has(userId),
    )
    // Every user may have grants on their own user.
    if (isNamed || this.#cellsOf({ before, after }).has(RESOURCES.USER.id)) return null
    return JSON.stringify([before.groups, after.groups, before.tenants, after.tenants])
  }

  #changesOfPermission(
    pair: Pair<Principal>,
    {
      resource,
      permission,
      ids,
    }: { readonly resource: ResourceName; readonly permission: string; readonly ids: ReadonlySet<string> },
  ): readonly EffectiveChange[] {
    const onAll = this.#statesOf(pair, { resource, permission, id: '*' })
    const isAllChanged = onAll.before !== onAll.after
    const changed: string[] = []
    const except: string[] = []
    for (const id of ids) {
      const state = this.#statesOf(pair, { resource, permission, id })
      if (id === '*' || (isAllChanged && isSameState(state, onAll))) continue
      if (isAllChanged) except.push(id)
      if (state.before !== state.after) changed.push(id)
    }
    return [
      ...(isAllChanged ? [this.#changeOf(pair, { resource, permission, id: '*' }, except)] : []),
      ...changed.map((id) => this.#changeOf(pair, { resource, permission, id }, [])),
    ]
  }

  #changeOf(
    pair: Pair<Principal>,
    { resource, permission, id }: PermissionCheck & { readonly id: string },
    except: readonly string[],
  ): EffectiveChange {
    const check = { resource, permission, id }
    return {
      resource: RESOURCES[resource].name,
      resourceId: id,
      permission,
      except,
      state: this.#statesOf(pair, check),
      decidedBy: this.#decidedBy(pair, check),
    }
  }

  #statesOf({ before, after }: Pair<Principal>, check: PermissionCheck): Pair<PermissionState> {
    return {
      before: stateOf(this.#policies.before, before, check),
      after: stateOf(this.#policies.after, after, check),
    }
  }

  #decidedBy({ before, after }: Pair<Principal>, check: PermissionCheck): Pair<DecidingRecord | null> {
    return {
      before: deciderOf(this.#policies.before, before, check),
      after: deciderOf(this.#policies.after, after, check),
    }
  }

  #coveredFor(
    record: RecordChange,
    subject: ComparedSubject,
    pair: Pair<Principal>,
  ): readonly CoveredChange[] {
    const resource = resourceOfType(record.resourceType)
    if (resource === null || record.resourceId === null) return []
    const id = record.resourceId
    const named = [...record.added, ...record.removed]
    const permissions = named.includes('ALL') ? permissionsOfType(record.resourceType) : named
    return permissions.flatMap((permission) => {
      const check = { resource, permission, id }
      const state = this.#statesOf(pair, check)
      return state.before === state.after
        ? [{ record, permission, subject, state: state.before, decidedBy: this.#decidedBy(pair, check) }]
        : []
    })
  }

  /** Returns the ids on which a decision about the caller may differ, by resource type. */
  #cellsOf(pair: Pair<Principal>): Cells {
    const { before, after } = pair
    const cells: Cells = new Map()
    const isOther =
      this.#hasOtherSettings ||
      !isSameList(before.groups, after.groups) ||
      !isSameList(before.tenants, after.tenants) ||
      usesRevokes(this.#policies.before.records, before) !== usesRevokes(this.#policies.after.records, after)
    if (isOther) {
      for (const { id } of Object.values(RESOURCES)) addCells(cells, id, ['*', ...this.#namedIds(pair, id)])
      return cells
    }
    const own = [
      this.#cells.users.get(before.userId),
      ...before.groups.map((group) => this.#cells.groups.get(group)),
      this.#cells.global,
    ]
    for (const part of own) for (const [type, ids] of part ?? []) addCells(cells, type, ids)
    for (const [type, ids] of cells) if (ids.has('*')) addCells(cells, type, this.#namedIds(pair, type))
    return cells
  }

  /** Returns the ids that records of either policy name for the caller, and the ids on which callers have grants without a record. */
  #namedIds({ before, after }: Pair<Principal>, type: number): readonly string[] {
    return [
      ...namedIds(this.#policies.before.records, before, type),
      ...namedIds(this.#policies.after.records, after, type),
      ...ownIdsOf(before, type),
      ...ownIdsOf(after, type),
    ]
  }
}

const ANYBODY: Principal = { userId: NO_USER, groups: [], tenants: [] }

function same(principal: Principal): Pair<Principal> {
  return { before: principal, after: principal }
}

/** Returns the ids of a type on which a secured engine grants permissions to the caller itself: user, groups and tenants. */
export function ownIdsOf({ userId, groups, tenants }: Principal, type: number): readonly string[] {
  if (type === RESOURCES.USER.id) return userId === NO_USER ? [] : [userId]
  if (type === RESOURCES.GROUP.id) return groups
  return type === RESOURCES.TENANT.id ? tenants : []
}

function stateOf(policy: ComparedPolicy, principal: Principal, check: PermissionCheck): PermissionState {
  const { records } = policy
  if (records.disabled.has(check.permission)) return 'not checked'
  const decided = isAuthorized(records, principal, withImplied(policy, principal, check))
  return decided === null ? 'no record' : decided ? 'granted' : 'revoked'
}

function deciderOf(
  policy: ComparedPolicy,
  principal: Principal,
  check: PermissionCheck,
): DecidingRecord | null {
  if (policy.records.disabled.has(check.permission)) return null
  return decidingRecord(policy.records, principal, withImplied(policy, principal, check))
}

function withImplied(
  { impliesIdentity }: ComparedPolicy,
  principal: Principal,
  check: PermissionCheck,
): PermissionCheck {
  return impliesIdentity
    ? { ...check, implicitBits: identityBits(check.resource, check.id, principal) }
    : check
}

function changedCellsOf(records: readonly RecordChange[]): ChangedCells {
  const cells: ChangedCells = { users: new Map(), groups: new Map(), global: new Map() }
  for (const { type, userId, groupId, resourceType, resourceId } of records) {
    if (resourceId === null) continue
    const of =
      type === GLOBAL
        ? cells.global
        : groupId != null
          ? cellsIn(cells.groups, groupId)
          : cellsIn(cells.users, userId ?? '')
    addCells(of, resourceType, [resourceId])
  }
  return cells
}

function cellsIn(bySubject: Map<string, Cells>, subject: string): Cells {
  const known = bySubject.get(subject) ?? new Map<number, Set<string>>()
  bySubject.set(subject, known)
  return known
}

function addCells(cells: Cells, type: number, ids: Iterable<string>): void {
  const known = cells.get(type) ?? new Set<string>()
  for (const id of ids) known.add(id)
  cells.set(type, known)
}

/** Returns the settings that decide, as text. */
function settingsTextOf(policy: ComparedPolicy): string {
  const { records, impliesIdentity, impliesFilters = false, linkBits } = policy
  const { checksTenants, adminGroups, adminUsers } = policy
  const { revokes, disabled } = records
  return JSON.stringify([
    [...disabled].toSorted(),
    revokes,
    impliesIdentity,
    impliesFilters,
    linkBits,
    checksTenants,
    adminGroups,
    adminUsers,
  ])
}

function groupsOf({ before, after }: ComparedPolicies): ReadonlySet<string> {
  return new Set(
    [before, after].flatMap(({ records, users }) => [
      ...records.named.groups.keys(),
      ...[...(users?.values() ?? [])].flatMap(({ groups }) => groups),
    ]),
  )
}

function membersOf(users: Iterable<readonly [string, Pair<Principal>]>) {
  const members = new Map<string, (readonly [string, Pair<Principal>])[]>()
  for (const user of users) {
    const [, { before, after }] = user
    for (const group of new Set([...before.groups, ...after.groups])) {
      const known = members.get(group)
      if (known === undefined) members.set(group, [user])
      else known.push(user)
    }
  }
  return members
}

function gainsOf(before: readonly string[] = [], after: readonly string[] = []): Gains {
  return {
    gained: after.filter((name) => !before.includes(name)),
    lost: before.filter((name) => !after.includes(name)),
  }
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name))
}

function isSameState(one: Pair<PermissionState>, other: Pair<PermissionState>): boolean {
  return one.before === other.before && one.after === other.after
}
