import { z } from 'zod'
import { OF_A_FILE } from '../config/config-problems.ts'
import { ConfigError } from '../config/config.ts'
import { parseText, shaped } from './file-problems.ts'

export interface User {
  readonly id: string
  readonly passwordHash: string
  readonly groups: readonly string[]
  readonly tenants: readonly string[]
}

/** The users of one file as read. A reload creates a new object, which shows caches that the users have changed. */
export interface Users {
  readonly size: number
  readonly all: readonly User[]
  readonly find: (id: string) => User | undefined
  /**
   * A hash that matches no password and costs as much as most hashes of the file. The response for an unknown user must not be
   * faster.
   */
  readonly dummyHash: string
}

const ARGON2ID =
  /^\$argon2id\$v=19\$m=\d{1,6},t=\d{1,2},p=\d{1,2}\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{16,86}$/
export const BCRYPT = /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/
// Cost for unknown users if the file is empty: the cost of hashes from hash-password.
const DEFAULT_COST = '$argon2id$v=19$m=19456,t=2,p=1$'

const name = z.string().min(1)

/** RFC 7617: a user-id has no colon and no control character. `*` means everybody in authorization records. */
export const USER_ID = /^(?!\*$)[^:\p{Cc}]+$/u

/** The members of a user in a file, without the password. */
export const membershipShape = {
  id: z.string().regex(USER_ID, 'must be a name without colon and control characters, not *'),
  groups: z.array(name).default([]),
  tenants: z.array(name).default([]),
}

const { groups, tenants } = membershipShape

const user = z.strictObject({
  id: membershipShape.id,
  passwordHash: z
    .string()
    .refine(
      (hash) => ARGON2ID.test(hash) || BCRYPT.test(hash),
      'must be an argon2id or bcrypt hash (the command hash-password creates one: see the README)',
    ),
  groups,
  tenants,
})

const schema = z.strictObject({ users: z.array(user) }, OF_A_FILE)

/** Returns the users in the text of a users.yaml. @throws ConfigError that names every problem */
export function usersOf(text: string, file = 'users.yaml'): Users {
  const { users } = shaped(file, schema, parseText(file, text))
  const problems = repeatedIdProblems(users)
  if (problems.length > 0) throw new ConfigError(file, problems)
  return createUsers(users, new Map(users.map((one) => [one.id, one])), dummyOf(users))
}

/** Returns a problem for each id that an earlier user has. */
export function repeatedIdProblems(users: readonly { readonly id: string }[]): readonly string[] {
  const firstAt = new Map<string, number>()
  return users.flatMap(({ id }, at) => {
    const first = firstAt.get(id)
    if (first === undefined) firstAt.set(id, at)
    return first === undefined ? [] : [`users[${at}].id: is the same as users[${first}].id`]
  })
}

/** The number of users that are indexed between two pauses. It takes less than a millisecond. */
const USERS_OF_A_STEP = 1_000

/** Indexes users by id, with pauses. */
export function* indexById<One extends { readonly id: string }>(
  all: readonly One[],
): Generator<undefined, ReadonlyMap<string, One>> {
  const byId = new Map<string, One>()
  for (const one of all) {
    byId.set(one.id, one)
    if (byId.size % USERS_OF_A_STEP === 0) yield
  }
  return byId
}

export function createUsers(all: readonly User[], byId: ReadonlyMap<string, User>, dummyHash: string): Users {
  return { size: byId.size, all, find: (id) => byId.get(id), dummyHash }
}

/** Returns the `dummyHash` for a list of users. */
export function dummyOf(users: readonly User[]): string {
  const tally = new Map<string, number>()
  for (const { passwordHash } of users) {
    const cost = costOf(passwordHash)
    tally.set(cost, (tally.get(cost) ?? 0) + 1)
  }
  const [common] = [...tally].sort(([, one], [, other]) => other - one)
  const cost = common?.[0] ?? DEFAULT_COST
  return cost.startsWith('$argon2id$')
    ? `${cost}${'A'.repeat(22)}$${'A'.repeat(43)}`
    : `${cost}${'.'.repeat(53)}`
}

/** Returns the part of a hash that sets its cost: algorithm and parameters, without salt and digest. */
function costOf(hash: string): string {
  return hash.startsWith('$argon2id$')
    ? hash.slice(0, hash.lastIndexOf('$', hash.lastIndexOf('$') - 1) + 1)
    : `$2b${hash.slice(3, 7)}`
}
