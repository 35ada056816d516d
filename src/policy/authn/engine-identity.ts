import { targetPathOf } from '../../request/target.ts'
import { GatewayError, messageOf } from '../../errors.ts'
import { isRecord } from '../../request/value.ts'
import { type AskEngine, invalidAnswer, jsonOf } from '../../request/engine-request.ts'
import type { Principal } from '../../request/principal.ts'
import { createConstantTime, type ConstantTimeOptions } from './constant-time.ts'
import type { IdentitySource } from './identity-source.ts'
import { isSameName } from '../../request/same-name.ts'
import { createLockout, type Lockout, type LockoutOptions } from './lockout.ts'

export interface EngineIdentityOptions extends LockoutOptions, ConstantTimeOptions {
  readonly ask: AskEngine
  /** Holds another object after users may have changed. It stays valid for cached credentials when it is handed to another configuration. */
  readonly epoch?: { current: object }
}

/** The engine's own users. */
export interface EngineIdentity extends IdentitySource, Pick<Lockout, 'count'> {
  /** Users, groups or tenants have changed: invalidates all cached data about them. */
  readonly changed: () => void
}

const MAX_VERDICT_BYTES = 64 * 1024
const MAX_LIST_BYTES = 8 * 1024 ** 2

/**
 * Asks the engine for the identity of a user, as its own Basic filter does: first the password, then groups and tenants.
 * It also reads the user, because authorization records may spell the name differently.
 */
export function createEngineIdentity(options: EngineIdentityOptions): EngineIdentity {
  const { ask, epoch = { current: {} }, now = () => performance.now() } = options
  const lockout = createLockout(options)
  const inEvenTime = createConstantTime(options)
  let problem: string | null = null
  let answeredAt: number | null = null

  async function findCondition(user: string, isRight: () => Promise<boolean>): Promise<Principal | null> {
    try {
      const principal = (await isRight()) ? await provenPrincipalOf(ask, user) : null
      problem = null
      answeredAt = now()
      return principal
    } catch (error) {
      if (!isThrottled(error)) problem = messageOf(error)
      throw error
    }
  }

  return {
    verify: ({ user, password, proven }) => {
      // Authorization records use this name for everybody.
      const isRight = async () =>
        user !== '*' && lockout.attempt({ user, proven }, () => isVerified(ask, user, password))
      return findCondition(user, () => inEvenTime(isRight))
    },
    principalOf: (userId) => principalOf(ask, userId),
    // A directory behind the engine may hold any number of them.
    everybody: () => null,
    groupsOf: (userId) => readIds(ask, `/group?member=${encodeURIComponent(userId)}`),
    stampOf: () => epoch.current,
    noticesAll: false,
    state: () => ({ problem, ageMs: answeredAt === null ? null : now() - answeredAt }),
    changed: () => {
      epoch.current = {}
    },
    count: lockout.count,
  }
}

async function isVerified(ask: AskEngine, username: string, password: string): Promise<boolean> {
  const path = '/identity/verify'
  const answer = await ask({
    method: 'POST',
    path,
    body: { username, password },
    limitBytes: MAX_VERDICT_BYTES,
  })
  const decision = jsonOf(answer, path)
  if (isRecord(decision) && typeof decision['authenticated'] === 'boolean') return decision['authenticated']
  throw invalidAnswer(`The engine answered ${path} without a verdict`)
}

/** The user under the name that the records use, with groups and tenants; null: the directory does not list the user. */
async function principalOf(ask: AskEngine, user: string): Promise<Principal | null> {
  const { listed, groups, tenants } = await findUser(ask, user)
  return listed === null ? null : { userId: listed, groups, tenants }
}

/**
 * The user whose password the engine has verified. Some directories verify passwords and list no users. The engine's own filter
 * does not read the user, so the name is used as it was sent.
 */
async function provenPrincipalOf(ask: AskEngine, user: string): Promise<Principal> {
  const { listed, groups, tenants } = await findUser(ask, user)
  return { userId: listed ?? user, groups, tenants }
}

interface FoundUser {
  /** As the directory spells the name; null: it does not list the user. */
  readonly listed: string | null
  readonly groups: readonly string[]
  readonly tenants: readonly string[]
}

async function findUser(ask: AskEngine, user: string): Promise<FoundUser> {
  const id = encodeURIComponent(user)
  const [users, groups, tenants] = await Promise.all([
    readIds(ask, `/user?id=${id}`),
    readIds(ask, `/group?member=${id}`),
    readIds(ask, `/tenant?userMember=${id}&includingGroupsOfUser=true`),
  ])
  // If the engine ignores the case of names, another spelling verifies too. It would match no record, including those that revoke.
  const listed =
    users.find((found) => found === user) ?? users.find((found) => isSameName(found, user)) ?? null
  if (listed === null && users.length > 0) throw invalidAnswer('The engine answered /user with somebody else')
  return { listed, groups, tenants }
}

function isThrottled(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'GW_THROTTLED'
}

async function readIds(ask: AskEngine, path: string): Promise<readonly string[]> {
  const what = targetPathOf(path)
  const list = jsonOf(await ask({ method: 'GET', path, limitBytes: MAX_LIST_BYTES }), what)
  if (!Array.isArray(list)) throw invalidAnswer(`The engine answered ${what} without a list`)
  return list.map((one: unknown) => {
    if (isRecord(one) && typeof one['id'] === 'string') return one['id']
    throw invalidAnswer(`The engine answered ${what} with something that has no id`)
  })
}
