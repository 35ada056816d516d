import { GatewayError, operatorText } from '../../errors.ts'
import type { IdentitySource } from './identity-source.ts'
import type { Principal } from '../../request/principal.ts'
import type { Passwords } from './password.ts'
import type { SourceState } from '../../files/source-state.ts'
import type { User, Users } from '../../files/users-file.ts'

interface FileIdentityOptions {
  /** The users. `current` returns null if the file could not be read for too long. */
  readonly file: { readonly current: () => Users | null; readonly state: () => SourceState }
  /** Shared by all engines, because its limit applies to the process. */
  readonly passwords: Pick<Passwords, 'verify'>
}

/** Creates the identity source for users in a file with password hashes. */
export function createFileIdentity({ file, passwords }: FileIdentityOptions): IdentitySource {
  const stampOfUser = createStamps()
  const users = (): Users => {
    const current = file.current()
    if (current === null)
      throw new GatewayError('GW_RECORDS_UNAVAILABLE', { message: operatorText`The users are not available` })
    return current
  }
  return {
    // A hash is computed for an unknown user as well, because the response time must not reveal which names exist.
    verify: async ({ user, password, ...claim }) => {
      const { find, dummyHash } = users()
      const found = find(user)
      const right = await passwords.verify(found?.passwordHash ?? dummyHash, password, claim)
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

/** Creates a function that returns the stamp of a user. A stamp is created once for each user and file. Equal data has equal stamps. */
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
