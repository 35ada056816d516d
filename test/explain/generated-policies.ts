import type { AuthorizationRecord } from '../../src/operations/authorization-record.ts'
import { RESOURCES, type ResourceName } from '../../src/operations/permissions.ts'
import { policiesFor } from '../../src/assembly/build-engine.ts'
import { linkBitsOf } from '../../src/policy/authz/entities/implicit-grants.ts'
import { indexRecords, type RecordsOptions } from '../../src/policy/authz/records/records.ts'
import type { ComparedPolicies, ComparedPolicy, Pair } from '../../src/explain/compared-policy.ts'
import type { Principal } from '../../src/request/principal.ts'

/** Returns a source of numbers from 0 to 1 that is the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function pickFrom<T>(random: () => number, list: readonly T[]): T {
  const item = list[Math.floor(random() * list.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

export const USERS = ['anna', 'bob', 'carl', 'demo', 'ezra']
export const GROUPS = ['clerks', 'night', 'camunda-admin']
export const IDS = ['*', 'x', 'y', 'z', 'anna', 'clerks']

/** Returns records without two of the same key. */
export function randomRecords(
  random: () => number,
  { count, resources }: { readonly count: number; readonly resources: readonly ResourceName[] },
): readonly AuthorizationRecord[] {
  const pick = <T>(list: readonly T[]): T => pickFrom(random, list)
  const byKey = new Map<string, AuthorizationRecord>()
  for (let at = 0; at < count; at += 1) {
    const resource = pick(resources)
    const type = pick([1, 1, 1, 1, 2, 0] as const)
    const subject =
      type === 0 ? { userId: '*' } : random() < 0.5 ? { userId: pick(USERS) } : { groupId: pick(GROUPS) }
    const names = ['ALL', ...Object.keys(RESOURCES[resource].permissions)]
    const permissions = [...new Set([pick(names), pick(names)])]
    const record = {
      type,
      ...subject,
      resourceType: RESOURCES[resource].id,
      resourceId: pick(IDS),
      permissions,
    }
    byKey.set(JSON.stringify({ ...record, permissions: [] }), record)
  }
  return [...byKey.values()]
}

function keyOf(record: AuthorizationRecord): string {
  return JSON.stringify({ ...record, permissions: [] })
}

/** Returns records of which some were removed, added or changed. */
function changedRecords(
  random: () => number,
  list: readonly AuthorizationRecord[],
  resources: readonly ResourceName[],
): readonly AuthorizationRecord[] {
  const kept = list.filter(() => random() < 0.75)
  const keys = new Set(kept.map(keyOf))
  const added = randomRecords(random, { count: 3, resources }).filter((record) => !keys.has(keyOf(record)))
  return [...kept, ...added]
}

export function randomUsers(random: () => number): ReadonlyMap<string, Principal> {
  return new Map(
    USERS.map((userId) => [
      userId,
      {
        userId,
        groups: GROUPS.filter((name) => random() < (name === 'camunda-admin' ? 0.1 : 0.4)),
        tenants: ['t', 'u'].filter(() => random() < 0.3),
      },
    ]),
  )
}

export function policyOf(
  list: readonly AuthorizationRecord[],
  users: ComparedPolicy['users'],
  options: RecordsOptions = {},
): ComparedPolicy {
  return {
    list,
    records: indexRecords(list, options),
    users,
    adminGroups: ['camunda-admin'],
    adminUsers: [],
    checksTenants: true,
    impliesIdentity: true,
    linkBits: linkBitsOf({ taskPermission: 'UPDATE', specificVariables: false }),
    policies: policiesFor({ specificVariablePermissions: false }),
  }
}

interface RandomPolicies {
  readonly count: number
  readonly resources: readonly ResourceName[]
  /** The probability that the new policy has other users. */
  readonly otherUsers: number
  readonly options?: Pair<RecordsOptions>
}

/** Returns two policies with some of the same records and users. */
export function randomPolicies(
  random: () => number,
  { count, resources, otherUsers, options }: RandomPolicies,
): ComparedPolicies {
  const list = randomRecords(random, { count, resources })
  const users = randomUsers(random)
  const changed = changedRecords(random, list, resources)
  return {
    before: policyOf(list, users, options?.before),
    after: policyOf(changed, random() < otherUsers ? randomUsers(random) : users, options?.after),
  }
}
