import { EngineRefusal, GatewayError } from '../../errors.ts'
import type { BasicCredential, CredentialMemoryOptions, RememberedCredentials } from './credentials.ts'
import type { Principal } from '../../request/principal.ts'
import {
  createCredentialMemory,
  createRememberedCredentials,
  MAX_HEADER_CHARS,
  readBasic,
} from './credentials.ts'
import type { IdentitySource } from './identity-source.ts'
import type { Throttle, ThrottleOptions } from './throttle.ts'
import { createThrottle, networkOf } from './throttle.ts'

export type AuthenticationResult = 'remembered' | 'verified' | 'failed' | 'missing' | 'throttled'

export interface AuthenticatorOptions extends CredentialMemoryOptions {
  /** The engine's name: the realm of the challenge. */
  readonly engine: string
  readonly source: Pick<IdentitySource, 'verify' | 'stampOf'>
  readonly throttle?: ThrottleOptions
  /** State of a previous authenticator for the same users. */
  readonly kept?: KeptAuthentication
  /** Called once per request, for metrics; not if the users are unavailable (503). */
  readonly onResult?: (result: AuthenticationResult) => void
}

/** Credentials and failures of one engine's users: plain values that outlive the configuration that created them. */
export interface KeptAuthentication {
  readonly credentials: RememberedCredentials
  readonly throttle: Throttle
}

export interface Authenticator {
  readonly kept: KeptAuthentication
  /**
   * Identifies the caller. Synchronous for a cached credential, else a promise. Throws (or rejects with) EngineRefusal 401
   * and GatewayError GW_THROTTLED or GW_OVERLOADED.
   */
  readonly authenticate: (header: string | undefined, address: string) => Principal | Promise<Principal>
}

/** Basic authentication against the users of one engine. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { source, now } = options
  const kept = options.kept ?? {
    credentials: createRememberedCredentials(),
    throttle: createThrottle(now === undefined ? options.throttle : { now, ...options.throttle }),
  }
  const { throttle } = kept
  const memory = createCredentialMemory(options, kept.credentials)

  function prove({ user, password }: BasicCredential, key: string, address: string) {
    // A credential that was correct before is not a guess: its owner gets in while others at the same address are throttled.
    const proven = memory.wasVerified(key)
    const verify = () => source.verify({ user, password, from: networkOf(address), proven })
    return memory.verifyOnce(key, { user, stampOf: source.stampOf }, () =>
      proven ? verify() : throttle.attempt({ user, address }, verify),
    )
  }

  function missing(header: string | undefined): EngineRefusal {
    options.onResult?.('missing')
    return challenge(options, header === undefined ? 'no credentials' : 'no readable Basic credentials')
  }

  return {
    kept,
    authenticate: (header, address) => {
      if (header === undefined || header.length > MAX_HEADER_CHARS) throw missing(header)
      const key = memory.keyOf(header)
      const remembered = memory.recall(key, source.stampOf)
      if (remembered !== null) {
        options.onResult?.('remembered')
        return remembered
      }
      const credential = readBasic(header)
      if (credential === null) throw missing(header)
      if (memory.failedLately(key, source.stampOf)) return conclude(Promise.resolve(null), options)
      return conclude(prove(credential, key, address), options)
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

function challenge({ engine }: AuthenticatorOptions, reason: string): EngineRefusal {
  return new EngineRefusal({
    status: 401,
    headers: { 'www-authenticate': `Basic realm="${engine}"` },
    reason,
  })
}
