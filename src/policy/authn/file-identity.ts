import { GatewayError } from '../../errors.ts'
import type { IdentitySource } from './identity-source.ts'
import type { Principal } from '../../request/principal.ts'
import type { Passwords } from './password.ts'
import type { SourceState } from '../../files/source-state.ts'
import type { User, Users } from '../../files/users-file.ts'

interface FileIdentityOptions {
  /** Null: nothing could be read for too long. */
  readonly file: { readonly current: () => Users | null; readonly state: () => SourceState }
  /** Shared by all engines: its limit is per process. */
  readonly passwords: Pick<Passwords, 'verify'>
}

/** Users in a file, with the hashes of their passwords. */
export function createFileIdentity({ file, passwords }: FileIdentityOptions): IdentitySource {
  const stampOfUser = createStamps()
  const users = (): Users => {
    const current = file.current()
    if (current === null)
      throw new GatewayError('GW_RECORDS_UNAVAILABLE', { message: 'The users are not available' })
    return current
  }
  return {
    // Computes a hash for an unknown user too: the time of the answer must not reveal which names exist.
    verify: async ({ user, password, from, proven }) => {
      const { find, dummyHash } = users()
      const found = find(user)
      const right = await passwords.verify(found?.passwordHash ?? dummyHash, password, { from, proven })
      return found === undefined || !right ? null : principalOf(found)
    },
    principalOf: async (userId) => {
      const found = users().find(userId)
      return found === undefined ? null : principalOf(found)
    },
    everybody: () => users().all.map(principalOf),
    groupsOf: async (userId) => users().find(userId)?.groups ?? [],
    stampOf: (userId) => stampOfUser(users().find(userId)),
    noticesAll: true,
    state: file.state,
  }
}

function principalOf({ id, groups, tenants }: User): Principal {
  return { userId: id, groups, tenants }
}

/** Created once per user and file; equal for equal data, also after the file was read again. */
function createStamps(): (user: User | undefined) => string | undefined {
  const stamps = new WeakMap<User, string>()
  return (user) => {
    if (user === undefined) return undefined
    const { id, passwordHash, groups, tenants } = user
    const stamp = stamps.get(user) ?? JSON.stringify([id, passwordHash, groups, tenants])
    stamps.set(user, stamp)
    return stamp
  }
}
