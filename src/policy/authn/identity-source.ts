import { GatewayError } from '../../errors.ts'
import type { StampOf } from './credentials.ts'
import type { Principal } from '../../request/principal.ts'
import type { Passwords } from './password.ts'
import type { SourceState } from '../../files/source-state.ts'
import type { User, Users } from '../../files/users-file.ts'

export interface Proof {
  readonly user: string
  readonly password: string
  /** Where it comes from, as attempts are counted: an address, or a network of one subscriber. */
  readonly from: string
  /** This very credential was right at some time: whoever presents it is not guessing. */
  readonly proven: boolean
}

/** Where the users of one engine are known. */
export interface IdentitySource {
  /** Null: no such user or another password, after the same time. @throws GatewayError when it cannot be known now */
  readonly verify: (proof: Proof) => Promise<Principal | null>
  /** Who a user would be, without a proof: for explanations. Null: there is none. @throws GatewayError when it cannot be known now */
  readonly principalOf: (userId: string) => Promise<Principal | null>
  /** Of any user, also of one who does not ask. */
  readonly groupsOf: (userId: string) => Promise<readonly string[]>
  /** Another value voids at once what is remembered of the user's credentials. @throws GatewayError when nothing may be decided any more */
  readonly stampOf: StampOf
  readonly state: () => SourceState
}

interface FileIdentityOptions {
  /** Null: there was nothing to read for longer than is tolerable. */
  readonly file: { readonly current: () => Users | null; readonly state: () => SourceState }
  /** Shared by all engines: its bound is on the process. */
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
    // The hash is computed for an unknown user too: the answer's time must not say which names exist.
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
    groupsOf: async (userId) => users().find(userId)?.groups ?? [],
    stampOf: (userId) => stampOfUser(users().find(userId)),
    state: file.state,
  }
}

function principalOf({ id, groups, tenants }: User): Principal {
  return { userId: id, groups, tenants }
}

/** Made once a user and file; those that stand for the same are equal, also of a file that was read anew. */
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
