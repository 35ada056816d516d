import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { ALL_BITS, isResource, RESOURCES, type ResourceName } from '../operations/permissions.ts'
import type { Release } from '../operations/published/releases.ts'
import type { Operation } from '../operations/table.ts'
import type { Principal } from '../request/principal.ts'
import { GatewayError, operatorText } from '../errors.ts'
import { createVerificationQueue } from '../policy/authn/verification-queue.ts'
import type { AuthorizeOptions } from '../policy/authz/checks/authorize-options.ts'
import type { CompiledCheck } from '../policy/authz/checks/compiled-check.ts'
import type { Permission } from '../policy/authz/checks/compiled-permission.ts'
import { isAdmin, tenantsFor } from '../policy/authz/decision/admin.ts'
import { eachNamedId } from '../policy/authz/decision/granted-ids.ts'
import { identityBits } from '../policy/authz/entities/implicit-grants.ts'
import type { OperationPolicy, Policies } from '../policy/authz/operation-policy.ts'
import type { Records, Rights, Subjects } from '../policy/authz/records/records.ts'
import { mayBeMissing } from './possible-outcomes.ts'
import { SearchTurn } from './search-turn.ts'

/** A caller with the policy that decides about them. */
export interface PermitSubject
  extends Pick<
    AuthorizeOptions,
    'adminGroups' | 'adminUsers' | 'checksTenants' | 'impliesIdentity' | 'impliesFilters'
  > {
  readonly principal: Principal
  readonly records: Records
  /** The bits that a link to a task grants on it. Zero if links grant nothing. */
  readonly linkBits: number
  /** Whether the engine has cases. Every caller may work on their tasks. */
  readonly hasCases: boolean
}

/**
 * Returns the function that decides whether a caller may be permitted some request of an operation: the caller has a grant that each
 * check can use, on any id, or needs none. Revocations, and whether the ids of the grants belong together, do not count. Therefore
 * every operation with a permitted request is shown, and some operations are shown although all of their requests are refused.
 */
export async function createMayBePermitted(
  subject: PermitSubject,
  turn = new SearchTurn(),
): Promise<(policy: OperationPolicy) => boolean> {
  const caller = { ...subject, granted: await grantedBitsOf(subject, turn) }
  const belongsToTenant = tenantsFor(subject, subject)?.length !== 0
  return ({ operation, checks: { before, after } }) => {
    if (!belongsToTenant && operation.template.includes('/tenant-id/')) return false
    const required = [...before, ...after].filter(({ when, each }) => when === null && each === null)
    if (required.length > 0) return required.every((check) => mayPass(check, caller))
    // The body or the query names the entities of the request. A request that names none does not count.
    const selecting = before.filter((check) => isSelecting(check, operation))
    return selecting.length === 0 || selecting.some((check) => mayPass(check, caller))
  }
}

/** Returns whether a check concerns a set of entities, or the one that a member of the body or the query names. */
function isSelecting({ each, when }: CompiledCheck, { effect, template }: Operation): boolean {
  if (each !== null) return true
  const isSelectedByPath = effect === 'read' || template.includes(':')
  return !isSelectedByPath && when !== null && when.members.some(({ isRequired }) => isRequired)
}

interface GrantedCaller extends PermitSubject {
  readonly granted: ReadonlyMap<ResourceName, GrantedBits>
}

/** The bits that the caller, their groups or all users have on a resource. */
interface GrantedBits {
  /** By a record on `*`. */
  readonly onAll: number
  /** By a record on some id or on `*`, or without a record. */
  readonly onSome: number
}

function mayPass(check: CompiledCheck, caller: GrantedCaller): boolean {
  const { admin, permissions, mode } = check
  if (admin && isAdmin(caller.principal, caller)) return true
  if (permissions.length === 0) return !admin
  if (isOpenToAll(check, caller)) return true
  const isLeftOut = (permission: Permission) => mayBeLeftOut(check, permission)
  const mayUse = (permission: Permission) =>
    caller.records.disabled.has(permission.permission)
      ? // The engine skips a check if its only permission is disabled.
        permissions.every((one) => one === permission || isLeftOut(one))
      : isGranted(permission, caller)
  if (mode === 'all') return permissions.every((permission) => isLeftOut(permission) || mayUse(permission))
  return permissions.some(mayUse) || permissions.every(isLeftOut)
}

/** Returns whether the check may concern an entity that every caller finds, for example the task of a case. */
function isOpenToAll({ permissions, exempt }: CompiledCheck, { hasCases }: GrantedCaller): boolean {
  if (exempt !== null && exempt !== 'case') return true
  const isOfTask = permissions.some(
    ({ attribute }) => attribute.from === 'lookup' && attribute.lookup === 'task',
  )
  return hasCases && (exempt === 'case' || isOfTask)
}

/** Returns whether the engine leaves a permission out if the entity lacks the id: a standalone task has no definition. */
function mayBeLeftOut({ isFound }: CompiledCheck, { attribute }: Permission): boolean {
  return !isFound && attribute.from === 'lookup' && mayBeMissing(attribute)
}

function isGranted({ resource, bit, attribute }: Permission, { granted }: GrantedCaller): boolean {
  const { onAll, onSome } = granted.get(resource) ?? NOTHING
  const bits = attribute.from === 'none' || attribute.from === 'any' ? onAll : onSome
  return (bits & bit) === bit
}

const NOTHING: GrantedBits = { onAll: 0, onSome: 0 }

/** Returns the bits that the caller has without a record, on some id of a resource. */
function implicitBitsOf(resource: ResourceName, subject: PermitSubject): number {
  const { principal, impliesIdentity, impliesFilters, linkBits } = subject
  if (resource === 'TASK') return linkBits
  if (resource === 'FILTER') return impliesFilters === true ? ALL_BITS : 0
  if (!impliesIdentity) return 0
  const own = [principal.userId, ...principal.groups, ...principal.tenants]
  return own.reduce((bits, id) => {
    const { user, groups } = identityBits(resource, id, principal)
    return bits | user | groups
  }, 0)
}

async function grantedBitsOf(
  subject: PermitSubject,
  turn: SearchTurn,
): Promise<ReadonlyMap<ResourceName, GrantedBits>> {
  const { records, principal } = subject
  const granted = new Map<ResourceName, GrantedBits>()
  for (const resource of RESOURCE_NAMES) {
    const { id: type } = RESOURCES[resource]
    const ofType = records.rights.get(type)
    // Many ids share the same subjects.
    const seen = new Set<Subjects | undefined>([undefined])
    const onAll = grantedIn(ofType?.get('*'), principal)
    let onSome = onAll | implicitBitsOf(resource, subject)
    for (const id of eachNamedId(records, principal, type)) {
      if (turn.isOver) await turn.end()
      const subjects = ofType?.get(id)
      if (seen.has(subjects)) continue
      seen.add(subjects)
      onSome |= grantedIn(subjects, principal)
    }
    granted.set(resource, { onAll, onSome })
  }
  return granted
}

const RESOURCE_NAMES = Object.keys(RESOURCES).filter(isResource)

function grantedIn(subjects: Subjects | undefined, { userId, groups }: Principal): number {
  if (subjects === undefined) return 0
  const all: readonly (Rights | undefined)[] = [
    subjects.users.get(userId),
    ...groups.map((group) => subjects.groups.get(group)),
    subjects.global,
  ]
  return all.reduce((bits, rights) => bits | (rights?.granted ?? 0), 0)
}

/** The operations with at least one request that a caller may be permitted to send. */
export interface PossiblePermits {
  readonly operations: ReadonlySet<string>
  /** Equal for callers with the same operations, so that they can share documents and lists of tools. */
  readonly key: string
}

export interface PossiblePermitsOptions {
  readonly policies: Policies
  /** Null if the configuration names no release: every operation is then possible. */
  readonly release: Release | null
  /** Whether the gateway refuses a request that it does not permit. */
  readonly isEnforced: boolean
  /** Whether a request of an operation is permitted without checks, because the operation needs no credentials. */
  readonly isOpen: (operation: Operation) => boolean
  /** Returns the policy in force for a caller. @throws GatewayError if the records are too old */
  readonly subjectOf: (principal: Principal) => Promise<PermitSubject>
  /** Changes whenever other records are in force. */
  readonly recordsVersion: () => number
}

/**
 * Finds the operations with at least one request that a caller may be permitted to send. Remembers them while the same records are in
 * force.
 * @param isAwaited returns false if no client waits for the result any more. A search that has not begun is then left out.
 * @throws GatewayError if the records are too old, if too many callers wait, or if the result is not awaited any more
 */
export type FindPossiblePermits = (
  principal: Principal,
  isAwaited?: () => boolean,
) => Promise<PossiblePermits>

/** The largest number of callers whose operations are remembered. Callers with the same operations share them. */
const MAX_CALLERS = 1000
/** The largest number of callers whose operations wait to be found. */
const MAX_WAITING = 1000

export function createFindPossiblePermits(options: PossiblePermitsOptions): FindPossiblePermits {
  const { isEnforced, recordsVersion, subjectOf } = options
  const remembered = createMemory()
  const shared = createMemory()
  const turn = new SearchTurn()
  // One search at a time: the turns of many searches at once would be one long turn of the event loop. Callers take turns.
  const inQueue = createVerificationQueue(1, MAX_WAITING)

  async function search(subject: PermitSubject | null): Promise<PossiblePermits> {
    const found = permitsOf(options, subject === null ? null : await createMayBePermitted(subject, turn))
    const equal = shared.get(found.key) ?? found
    shared.set(found.key, equal)
    return equal
  }

  return async function findPossiblePermits(principal, isAwaited = () => true) {
    const version = isEnforced ? recordsVersion() : 0
    const subject = isEnforced ? await subjectOf(principal) : null
    const { userId, groups, tenants } = principal
    const facts = subject === null ? [] : [userId, groups, tenants, version, subject.hasCases]
    // A caller may have hundreds of groups with long names.
    const key = hash('sha256', JSON.stringify(facts), 'base64url')
    const known = remembered.get(key)
    if (known !== undefined) return known
    const searchOnce = async () => {
      const found = remembered.get(key)
      if (found !== undefined) return found
      if (!isAwaited())
        throw new GatewayError('GW_OVERLOADED', { message: operatorText`The client did not wait` })
      const permits = await search(subject)
      remembered.set(key, permits)
      return permits
    }
    return inQueue(searchOnce, { from: userId, proven: false })
  }
}

/** Creates an empty memory. The option `max` would allocate all entries of each engine at once. */
function createMemory(): LRUCache<string, PossiblePermits> {
  return new LRUCache({ maxSize: MAX_CALLERS, sizeCalculation: () => 1 })
}

/** @param mayBePermitted null if the gateway refuses nothing */
function permitsOf(
  { policies, release, isOpen }: PossiblePermitsOptions,
  mayBePermitted: ((policy: OperationPolicy) => boolean) | null,
): PossiblePermits {
  const operations = new Set<string>()
  for (const policy of policies.values()) {
    const { operation } = policy
    if (release !== null && operation.only?.includes(release) === false) continue
    if (mayBePermitted === null || isOpen(operation) || mayBePermitted(policy)) operations.add(operation.id)
  }
  return { operations, key: hash('sha256', [...operations].join(), 'base64url') }
}
