import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { EngineCondition } from '../../../operations/notation.ts'
import { RESOURCES, type ResourceName } from '../../../operations/permissions.ts'
import type { Release } from '../../../operations/published/releases.ts'
import type { Operation } from '../../../operations/table.ts'
import type { Principal } from '../../../request/principal.ts'
import { createAuthorize } from '../checks/authorize.ts'
import type { AuthorizeOptions } from '../checks/authorize-options.ts'
import { isAuthorized, subjectsOf } from '../decision/decide.ts'
import { namedIds } from '../decision/granted-ids.ts'
import { identityBits } from '../entities/implicit-grants.ts'
import type { Policies } from '../operation-policy.ts'
import type { Records } from '../records/records.ts'
import { ownIdsOf } from './effective-changes.ts'
import { OTHER_ID } from './possible-outcomes.ts'
import {
  type PossibleRequest,
  possibleRequestsOf,
  type RequestSpace,
  requestSpaceOf,
  type RequestValues,
} from './possible-requests.ts'

/** A caller with the policy that decides about them. */
export interface PermitSubject
  extends Pick<AuthorizeOptions, 'adminGroups' | 'adminUsers' | 'checksTenants' | 'impliesIdentity'> {
  readonly principal: Principal
  readonly records: Records
  /** The bits that a link to a task grants on it. Zero if links grant nothing. */
  readonly linkBits: number
  /** Whether the engine has cases. Every caller may work on their tasks. */
  readonly hasCases: boolean
}

/** Whether a condition holds that only the engine knows, in the request that is tried. A plan that is not valid has no effect. */
const HOLDS: Readonly<Record<EngineCondition, boolean>> = {
  'nothing is left active': false,
  'the plan is valid': true,
}

/** Returns for each operation whether the caller may be permitted some request of it. The decision itself decides about each request that is tried. */
export function createMayBePermitted(subject: PermitSubject): (space: RequestSpace) => Promise<boolean> {
  const { principal, linkBits, hasCases } = subject
  const values: RequestValues = { principal, idsOf: createIdsOf(subject), hasCases }
  return async (space) => {
    const { checks } = space.policy
    if (checks.before.length + checks.after.length + checks.preconditions.entities.length === 0) return true
    let tried: PossibleRequest | null = null
    const { authorize, verifyCreated } = createAuthorize(checks, {
      ...subject,
      records: () => subject.records,
      lookUp: (lookup, id) => tried?.entityOf(lookup, id) ?? null,
      lookUpAll: async (lookup, ids) => new Map(ids.map((id) => [id, tried?.entityOf(lookup, id) ?? {}])),
      findTargets: async (set) => tried?.targetsOf(set) ?? null,
      isOwn: async () => true,
      tenantsOfKey: async () => [null],
      findCondition: async (condition) => HOLDS[condition],
      implicitGrants: linkBits === 0 ? null : linkedTo(principal, linkBits),
    })
    for (const request of possibleRequestsOf(space, values)) {
      tried = request
      const { accessRequest } = request
      const { permitted } = await authorize(accessRequest)
      if (permitted && verifyCreated?.(accessRequest, OTHER_ID).permitted !== false) return true
    }
    return false
  }
}

/** Links a caller and their groups to every task. A link can only grant. */
function linkedTo({ groups }: Principal, linkBits: number): AuthorizeOptions['implicitGrants'] {
  const bits = { user: linkBits, groups: groups.length === 0 ? 0 : linkBits }
  return {
    on: async () => bits,
    tasks: async () => ({ user: new Set(), groups: new Set(), bits: linkBits }),
  }
}

/** Creates the search for ids with different decisions. It returns one id for each set of decisions about all permissions. */
function createIdsOf(subject: PermitSubject): RequestValues['idsOf'] {
  const known = new Map<string, readonly string[]>()
  return (resources) => {
    const key = resources.toSorted().join(' ')
    const found = known.get(key) ?? representativesOf(resources, subject)
    known.set(key, found)
    return found
  }
}

function representativesOf(resources: readonly ResourceName[], subject: PermitSubject): readonly string[] {
  if (resources.length === 0) return []
  const { principal, records } = subject
  const types = resources.map((resource) => RESOURCES[resource].id)
  const own = new Set(types.flatMap((type) => ownIdsOf(principal, type)))
  const byDecisions = new Map<string, string>()
  const seen = new Set<unknown>()
  const [only] = resources.length === 1 ? resources : []
  for (const id of [OTHER_ID, ...own, ...types.flatMap((type) => [...namedIds(records, principal, type)])]) {
    // Ids with the same single record share its subjects, so most of many ids are left out without a decision.
    if (only !== undefined && !own.has(id)) {
      const subjects = subjectsOf(records, { resource: only, permission: '', id }).own
      if (seen.has(subjects)) continue
      seen.add(subjects)
    }
    const decisions = resources.map((resource) => decisionsOn(resource, id, subject)).join(' ')
    if (!byDecisions.has(decisions)) byDecisions.set(decisions, id)
  }
  return [...byDecisions.values()]
}

/** Returns the decisions about each permission of a resource on one id, as a text. */
function decisionsOn(
  resource: ResourceName,
  id: string,
  { principal, records, impliesIdentity }: PermitSubject,
): string {
  const implicitBits = impliesIdentity ? identityBits(resource, id, principal) : undefined
  return Object.keys(RESOURCES[resource].permissions)
    .map((permission) => isAuthorized(records, principal, { resource, permission, id, implicitBits }))
    .join()
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

/** Finds the operations with at least one request that a caller may be permitted to send. Remembers them while the same records are in force. */
export type FindPossiblePermits = (principal: Principal) => Promise<PossiblePermits>

/** The largest number of callers whose operations are remembered. Callers with the same operations share them. */
const MAX_CALLERS = 1000
/** The event loop runs other work after this time. */
const TURN_MS = 5

export function createPossiblePermits(options: PossiblePermitsOptions): FindPossiblePermits {
  const remembered = new LRUCache<string, PossiblePermits>({ max: MAX_CALLERS })
  const spaces = new Map<string, RequestSpace>()
  const shared = new LRUCache<string, PossiblePermits>({ max: MAX_CALLERS })
  return async (principal) => {
    const version = options.isEnforced ? options.recordsVersion() : 0
    const subject = options.isEnforced ? await options.subjectOf(principal) : null
    const { userId, groups, tenants } = principal
    const profile = subject === null ? [] : [userId, groups, tenants, version, subject.hasCases]
    const key = JSON.stringify(profile)
    const known = remembered.get(key)
    if (known !== undefined) return known
    const found = await findPermits(options, spaces, subject)
    const equal = shared.get(found.key) ?? found
    shared.set(found.key, equal)
    remembered.set(key, equal)
    return equal
  }
}

async function findPermits(
  { policies, release, isOpen }: PossiblePermitsOptions,
  spaces: Map<string, RequestSpace>,
  subject: PermitSubject | null,
): Promise<PossiblePermits> {
  const mayBePermitted = subject === null ? null : createMayBePermitted(subject)
  const operations = new Set<string>()
  let startedMs = performance.now()
  for (const policy of policies.values()) {
    const { operation } = policy
    if (performance.now() - startedMs > TURN_MS) {
      await setImmediate()
      startedMs = performance.now()
    }
    if (release !== null && operation.only?.includes(release) === false) continue
    if (mayBePermitted === null || isOpen(operation)) operations.add(operation.id)
    else {
      const space = spaces.get(operation.id) ?? requestSpaceOf(policy)
      spaces.set(operation.id, space)
      if (await mayBePermitted(space)) operations.add(operation.id)
    }
  }
  return {
    operations,
    key: createHash('sha256')
      .update([...operations].join())
      .digest('base64url'),
  }
}
