import { pathText } from '../../operations/published/declared-names.ts'
import { operatorText, messageOf } from '../../errors.ts'
import { isRecord } from '../../request/value.ts'
import { type AskEngine, invalidResponse, jsonOf } from '../../request/engine-request.ts'
import type { Principal } from '../../request/principal.ts'
import { createConstantTime, type ConstantTimeOptions } from './constant-time.ts'
import type { IdentitySource } from './identity-source.ts'
import { isThrottled } from './throttled.ts'
import { isSameName } from '../../request/same-name.ts'
import { createLockout, type Lockout, type LockoutOptions } from './lockout.ts'

export interface EngineIdentityOptions extends LockoutOptions, ConstantTimeOptions {
  readonly ask: AskEngine
  /**
   * Contains a new object after users may have changed. If the next configuration gets the same `version`, cached credentials remain
   * valid.
   */
  readonly version?: { current: object }
}

/** The identity source of the engine's own users. */
export interface EngineIdentity extends IdentitySource, Pick<Lockout, 'count'> {
  /** Invalidates all cached data about users. Call it when users, groups or tenants have changed. */
  readonly changed: () => void
}

const MAX_VERDICT_BYTES = 64 * 1024
const MAX_LIST_BYTES = 8 * 1024 ** 2

/**
 * Creates an identity source that reads a user from the engine, as the engine's own Basic filter does: it verifies the password and
 * then reads groups and tenants. It also reads the user, because authorization records may spell the name differently.
 */
export function createEngineIdentity(options: EngineIdentityOptions): EngineIdentity {
  const { ask, version = { current: {} }, now = () => performance.now() } = options
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
    verify: async ({ user, password, from, proven, inBackground = false }) => {
      const attempt = { user, from, proven }
      // Not part of the even time, which would then become as long as this wait.
      if (!inBackground) await lockout.waitForUnlock(attempt)
      // In authorization records this name means all users.
      const isRight = async () =>
        user !== '*' && lockout.attempt(attempt, () => isVerified(ask, user, password))
      return findCondition(user, () => inEvenTime(isRight))
    },
    principalOf: (userId) => principalOf(ask, userId),
    // A directory behind the engine may contain any number of users.
    everybody: () => null,
    groupsOf: (userId) => readIds(ask, `/group?member=${encodeURIComponent(userId)}`),
    stampOf: () => version.current,
    noticesAll: false,
    state: () => ({ problem, ageMs: answeredAt === null ? null : now() - answeredAt }),
    changed: () => {
      version.current = {}
    },
    count: lockout.count,
  }
}

async function isVerified(ask: AskEngine, username: string, password: string): Promise<boolean> {
  const path = '/identity/verify'
  const response = await ask({
    method: 'POST',
    path,
    body: { username, password },
    limitBytes: MAX_VERDICT_BYTES,
  })
  const decision = jsonOf(response, pathText(path))
  if (isRecord(decision) && typeof decision['authenticated'] === 'boolean') return decision['authenticated']
  throw invalidResponse(
    operatorText`The engine's response to ${pathText(path)} does not say whether the password is correct`,
  )
}

/** Returns the user with the name that the directory uses, with groups and tenants, or null if the directory does not list the user. */
async function principalOf(ask: AskEngine, user: string): Promise<Principal | null> {
  const { listed, groups, tenants } = await findUser(ask, user)
  return listed === null ? null : { userId: listed, groups, tenants }
}

/**
 * Returns the user whose password the engine has verified. Some directories verify passwords but list no users. The engine's own
 * filter does not read the user, so in this case the name is used as it was sent.
 */
async function provenPrincipalOf(ask: AskEngine, user: string): Promise<Principal> {
  const { listed, groups, tenants } = await findUser(ask, user)
  return { userId: listed ?? user, groups, tenants }
}

interface FoundUser {
  /** The name as the directory spells it, or null if it does not list the user. */
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
  // If the engine ignores case in names, it also verifies another spelling. That spelling would match no record, not even a REVOKE record.
  const listed =
    users.find((found) => found === user) ?? users.find((found) => isSameName(found, user)) ?? null
  if (listed === null && users.length > 0)
    throw invalidResponse(operatorText`The engine's response to /user contains only other users`)
  return { listed, groups, tenants }
}

async function readIds(ask: AskEngine, path: string): Promise<readonly string[]> {
  const what = pathText(path)
  const list = jsonOf(await ask({ method: 'GET', path, limitBytes: MAX_LIST_BYTES }), what)
  if (!Array.isArray(list))
    throw invalidResponse(operatorText`The engine's response to ${what} is not a list`)
  return list.map((one: unknown) => {
    if (isRecord(one) && typeof one['id'] === 'string') return one['id']
    throw invalidResponse(operatorText`The engine's response to ${what} has an item without an id`)
  })
}
