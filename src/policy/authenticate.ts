import { EngineVerdict, GatewayError } from '../errors.ts'
import type { BasicCredential, CredentialMemoryOptions, Principal } from './credentials.ts'
import { createCredentialMemory, readBasic } from './credentials.ts'
import type { Passwords } from './password.ts'
import type { ThrottleOptions } from './throttle.ts'
import { createThrottle } from './throttle.ts'
import type { Users } from './users.ts'

export type AuthenticationResult = 'remembered' | 'verified' | 'failed' | 'missing' | 'throttled'

export interface AuthenticatorOptions extends CredentialMemoryOptions {
  /** The engine's name: the realm of the challenge. */
  readonly engine: string
  /** The users as they are now; a new object after a reload voids every remembered credential at once. */
  readonly users: () => Users
  /** Shared by all engines: its bound is on the process. */
  readonly passwords: Pick<Passwords, 'verify'>
  readonly throttle?: ThrottleOptions
  /** Called once per request, for metrics; not when the hashes are overloaded (503). */
  readonly onResult?: (result: AuthenticationResult) => void
}

export interface Authenticator {
  /**
   * Who asks? At once for a remembered credential, else a promise. Throws (or rejects with) EngineVerdict 401 and
   * GatewayError GW_THROTTLED or GW_OVERLOADED.
   */
  readonly authenticate: (header: string | undefined, address: string) => Principal | Promise<Principal>
}

/** Basic authentication against the users of one engine. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { users, passwords, now } = options
  const memory = createCredentialMemory(options)
  const throttle = createThrottle(now === undefined ? options.throttle : { now, ...options.throttle })

  function prove(credential: BasicCredential, key: string, address: string): Promise<Principal | null> {
    const source = users()
    const verify = () => verifyPassword(passwords, source, credential)
    // A credential that was right before is no guess: its owner gets in while somebody else at the address is throttled.
    return memory.verifyOnce(key, source, () =>
      memory.wasVerified(key) ? verify() : throttle.attempt({ user: credential.user, address }, verify),
    )
  }

  return {
    authenticate: (header, address) => {
      const credential = readBasic(header)
      if (credential === null) {
        options.onResult?.('missing')
        throw challenge(options, header === undefined ? 'no credentials' : 'no readable Basic credentials')
      }
      const key = memory.keyOf(credential.decoded)
      const remembered = memory.recall(key, users())
      if (remembered === null) return conclude(prove(credential, key, address), options)
      options.onResult?.('remembered')
      return remembered
    },
  }
}

async function conclude(proof: Promise<Principal | null>, options: AuthenticatorOptions): Promise<Principal> {
  const principal = await proof.catch((cause: unknown) => {
    if (cause instanceof GatewayError && cause.code === 'GW_THROTTLED') options.onResult?.('throttled')
    throw cause
  })
  options.onResult?.(principal === null ? 'failed' : 'verified')
  if (principal === null) throw challenge(options, 'unknown user or wrong password')
  return principal
}

/** Hashes for an unknown user too: the answer's time must not say which names exist. */
async function verifyPassword(
  passwords: Pick<Passwords, 'verify'>,
  users: Users,
  { user, password }: BasicCredential,
): Promise<Principal | null> {
  const found = users.find(user)
  const right = await passwords.verify(found?.passwordHash ?? users.dummyHash, password)
  if (found === undefined || !right) return null
  return { userId: found.id, groups: found.groups, tenants: found.tenants }
}

function challenge({ engine }: AuthenticatorOptions, reason: string): EngineVerdict {
  return new EngineVerdict({
    status: 401,
    headers: { 'www-authenticate': `Basic realm="${engine}"` },
    reason,
  })
}
