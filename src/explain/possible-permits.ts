import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { EngineCondition } from '../operations/notation.ts'
import { RESOURCES, type ResourceName } from '../operations/permissions.ts'
import type { Release } from '../operations/published/releases.ts'
import type { Operation } from '../operations/table.ts'
import type { Principal } from '../request/principal.ts'
import { GatewayError, operatorText } from '../errors.ts'
import { createVerificationQueue } from '../policy/authn/verification-queue.ts'
import { createAuthorize } from '../policy/authz/checks/authorize.ts'
import type { AuthorizeOptions } from '../policy/authz/checks/authorize-options.ts'
import { isAuthorized, subjectsOf } from '../policy/authz/decision/decide.ts'
import { eachNamedId } from '../policy/authz/decision/granted-ids.ts'
import { identityBits } from '../policy/authz/entities/implicit-grants.ts'
import type { Policies } from '../policy/authz/operation-policy.ts'
import { indexRecords, type Subjects } from '../policy/authz/records/records.ts'
import { ownIdsOf } from './effective-changes.ts'
import { decisionProfileOf } from './decision-profile.ts'
import { OTHER_ID } from './possible-outcomes.ts'
import {
  type PermissionOfId,
  type PossibleRequest,
  possibleRequestsOf,
  type RequestSpace,
  requestSpaceOf,
  type RequestValues,
} from './possible-requests.ts'
import type { PermitSubject } from './permit-subject.ts'
import { SearchTurn } from './search-turn.ts'

/** Whether a condition holds that only the engine knows, in the request that is tried. A plan that is not valid has no effect. */
const HOLDS: Readonly<Record<EngineCondition, boolean>> = {
  'nothing is left active': false,
  'the plan is valid': true,
}

/**
 * The largest number of requests that are tried for one operation. With more, the operation counts as possible: the result only
 * describes, and each request is decided again.
 */
const MAX_TRIED = 2000

/** Returns for each operation whether the caller may be permitted some request of it. The decision itself decides about each request that is tried. */
export function createMayBePermitted(
  subject: PermitSubject,
  turn = new SearchTurn(),
): (space: RequestSpace) => Promise<boolean> {
  const { principal, linkBits, hasCases } = subject
  const values: RequestValues = { principal, idsOf: createIdsOf(subject, turn), hasCases }
  return async (space) => {
    const { checks } = space.policy
    if (checks.before.length + checks.after.length + checks.preconditions.entities.length === 0) return true
    let tried: PossibleRequest | null = null
    const { authorize, verifyCreated } = createAuthorize(checks, {
      ...subject,
      records: () => subject.records,
      lookUp: (lookup, id) =>
        lookup === 'filter' ? { owner: principal.userId } : (tried?.entityOf(lookup, id) ?? null),
      lookUpAll: async (lookup, ids) => new Map(ids.map((id) => [id, tried?.entityOf(lookup, id) ?? {}])),
      findTargets: async (set) => tried?.targetsOf(set) ?? null,
      isOwn: async () => true,
      tenantsOfKey: async () => [null],
      findCondition: async (condition) => HOLDS[condition],
      implicitGrants: linkBits === 0 ? null : linkedTo(principal, linkBits),
    })
    let count = 0
    for await (const request of possibleRequestsOf(space, values)) {
      if (turn.isOver) await turn.end()
      tried = request
      const { accessRequest } = request
      const { permitted } = await authorize(accessRequest)
      if (permitted && verifyCreated?.(accessRequest, OTHER_ID).permitted !== false) return true
      count += 1
      if (count === MAX_TRIED) return true
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

/** Creates the search for ids with different decisions. It returns one id for each set of decisions about the permissions. */
function createIdsOf(subject: PermitSubject, turn: SearchTurn): RequestValues['idsOf'] {
  const known = new Map<string, Promise<readonly string[]>>()
  const search = new IdSearch(subject, turn)
  function findOnce(key: string, find: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const found = known.get(key) ?? find()
    known.set(key, found)
    return found
  }
  return async (permissions) => {
    if (permissions.length === 0) return []
    const names = permissions.map(({ resource, permission }) => `${resource}.${permission}`)
    return findOnce([...new Set(names)].toSorted().join(' '), async () => {
      const resources = [...new Set(permissions.map(({ resource }) => resource))].toSorted()
      // Most of many ids are left out once for all permissions.
      const ids = await findOnce(resources.join(' '), () => search.differingIn(resources))
      return search.representativesOf(ids, permissions)
    })
  }
}

/** Searches for ids on which the decisions about a caller differ. */
class IdSearch {
  readonly #subject: PermitSubject
  readonly #turn: SearchTurn

  constructor(subject: PermitSubject, turn: SearchTurn) {
    this.#subject = subject
    this.#turn = turn
  }

  /** Returns one id for each set of decisions about all permissions of these resources. */
  async differingIn(resources: readonly ResourceName[]): Promise<readonly string[]> {
    const { principal, records } = this.#subject
    const types = resources.map((resource) => RESOURCES[resource].id)
    const own = types.flatMap((type) => ownIdsOf(principal, type))
    const [only] = resources.length === 1 ? resources : []
    // Ids with the same single record share its subjects, so most of many ids are left out without a decision.
    const named = new Map<string | Subjects, string>()
    for (const type of types)
      for (const id of eachNamedId(records, principal, type)) {
        if (this.#turn.isOver) await this.#turn.end()
        const key = only === undefined ? id : subjectsOf(records, { resource: only, permission: '', id }).own
        named.set(key, id)
      }
    return this.representativesOf(
      new Set([OTHER_ID, ...own, ...named.values()]),
      resources.flatMap((resource) =>
        Object.keys(RESOURCES[resource].permissions).map((permission) => ({ resource, permission })),
      ),
    )
  }

  /** Returns one of the ids for each set of decisions about the permissions. */
  async representativesOf(
    ids: Iterable<string>,
    permissions: readonly PermissionOfId[],
  ): Promise<readonly string[]> {
    const byDecisions = new Map<string, string>()
    for (const id of ids) {
      if (this.#turn.isOver) await this.#turn.end()
      const decisions = permissions.map((permission) => this.#decisionOn(permission, id)).join()
      if (!byDecisions.has(decisions)) byDecisions.set(decisions, id)
    }
    return [...byDecisions.values()]
  }

  #decisionOn({ resource, permission }: PermissionOfId, id: string): boolean | null {
    const { principal, records, impliesIdentity } = this.#subject
    const implicitBits = impliesIdentity ? identityBits(resource, id, principal) : undefined
    return isAuthorized(records, principal, { resource, permission, id, implicitBits })
  }
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
export interface PossiblePermitSearch {
  /**
   * @param isAwaited returns false if no client waits for the result any more. A search that has not begun is then left out.
   * @throws GatewayError if the records are too old, if too many callers wait, or if the result is not awaited any more
   */
  readonly find: (principal: Principal, isAwaited?: () => boolean) => Promise<PossiblePermits>
  /**
   * Searches for a caller without any record, so that the first caller does not wait for compiled code. Other work runs between its
   * turns.
   */
  readonly prepare: () => Promise<void>
}

/** The largest number of callers whose operations are remembered. Callers with the same operations share them. */
const MAX_CALLERS = 1000
/** The largest number of callers whose operations wait to be found. */
const MAX_WAITING = 1000

export function createPossiblePermits(options: PossiblePermitsOptions): PossiblePermitSearch {
  const remembered = createMemory()
  const byProfile = createMemory()
  const shared = createMemory()
  const searches = new Map<string, RequestedSearch>()
  const spaces = new Map<string, RequestSpace>()
  const turn = new SearchTurn()
  // One search at a time: the turns of many searches at once would be one long turn of the event loop. Callers take turns.
  const inQueue = createVerificationQueue(1, MAX_WAITING)

  async function search(subject: PermitSubject | null): Promise<PossiblePermits> {
    const profile = subject === null ? '' : await decisionProfileOf(subject, turn)
    const known = byProfile.get(profile)
    if (known !== undefined) return known
    const found = await findPermits(options, { spaces, subject, turn })
    const equal = shared.get(found.key) ?? found
    shared.set(found.key, equal)
    byProfile.set(profile, equal)
    return equal
  }

  async function findAndRemember(
    key: string,
    subject: PermitSubject | null,
    isAwaited: readonly (() => boolean)[],
  ): Promise<PossiblePermits> {
    try {
      const from = subject?.principal.userId ?? ''
      const searchIfAwaited = async () => {
        if (isAwaited.some((is) => is())) return search(subject)
        // A later caller begins another search.
        searches.delete(key)
        throw new GatewayError('GW_OVERLOADED', { message: operatorText`The client did not wait` })
      }
      const found = await inQueue(searchIfAwaited, { from, proven: false })
      remembered.set(key, found)
      return found
    } finally {
      // After a search that was left out, another one may have begun.
      if (searches.get(key)?.isAwaited === isAwaited) searches.delete(key)
    }
  }

  const find = async (
    principal: Principal,
    isAwaited: () => boolean = () => true,
  ): Promise<PossiblePermits> => {
    const version = options.isEnforced ? options.recordsVersion() : 0
    const subject = options.isEnforced ? await options.subjectOf(principal) : null
    const { userId, groups, tenants } = principal
    const profile = subject === null ? [] : [userId, groups, tenants, version, subject.hasCases]
    // A caller may have hundreds of groups with long names.
    const key = hash('sha256', JSON.stringify(profile), 'base64url')
    const known = remembered.get(key)
    if (known !== undefined) return known
    const requested = searches.get(key)
    if (requested !== undefined) {
      requested.isAwaited.push(isAwaited)
      return requested.found
    }
    const waiters = [isAwaited]
    const found = findAndRemember(key, subject, waiters)
    searches.set(key, { found, isAwaited: waiters })
    return found
  }
  async function prepare(): Promise<void> {
    if (options.isEnforced) await findPermits(options, { spaces, subject: UNKNOWN_CALLER, turn })
  }
  let prepared: Promise<void> | null = null
  return {
    find,
    prepare: () => (prepared ??= prepare()),
  }
}

/** A search that waits or runs. Requests for the same caller share it. */
interface RequestedSearch {
  readonly found: Promise<PossiblePermits>
  /** One function for each request. The search is left out if all of them return false when it begins. */
  readonly isAwaited: (() => boolean)[]
}

/** Creates an empty memory. The option `max` would allocate all entries of each engine at once. */
function createMemory(): LRUCache<string, PossiblePermits> {
  return new LRUCache({ maxSize: MAX_CALLERS, sizeCalculation: () => 1 })
}

/** A caller with few permissions: the search for their operations tries most requests. */
const UNKNOWN_CALLER: PermitSubject = {
  principal: { userId: '', groups: [], tenants: [] },
  records: indexRecords([]),
  adminGroups: [],
  adminUsers: [],
  checksTenants: true,
  impliesIdentity: true,
  linkBits: 0,
  hasCases: true,
}

interface PermitSearch {
  readonly spaces: Map<string, RequestSpace>
  /** Null if the gateway refuses nothing. */
  readonly subject: PermitSubject | null
  readonly turn: SearchTurn
}

async function findPermits(
  { policies, release, isOpen }: PossiblePermitsOptions,
  { spaces, subject, turn }: PermitSearch,
): Promise<PossiblePermits> {
  const mayBePermitted = subject === null ? null : createMayBePermitted(subject, turn)
  const operations = new Set<string>()
  for (const policy of policies.values()) {
    const { operation } = policy
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
    key: hash('sha256', [...operations].join(), 'base64url'),
  }
}
