import { EngineRefusal } from '../../errors.ts'
import { isBearer } from './bearer.ts'
import type { BasicCredential, CredentialMemoryOptions, RememberedCredentials } from './credentials.ts'
import { ANONYMOUS, type Authentication, type Principal } from '../../request/principal.ts'
import {
  createCredentialMemory,
  createRememberedCredentials,
  MAX_HEADER_CHARS,
  readBasic,
} from './credentials.ts'
import type { IdentitySource } from './identity-source.ts'
import type { Throttle, ThrottleOptions } from './throttle.ts'
import { createThrottle, networkOf } from './throttle.ts'
import { outcomeOf } from './throttled.ts'
import type { TokenAuthenticator, TokenMethod } from './tokens.ts'

export type AuthenticationResult = 'remembered' | 'verified' | 'failed' | 'missing' | 'throttled'

/** `none`: nothing was sent that names one. */
export type AuthenticationMethod = TokenMethod | 'none'

export interface AuthenticatorOptions extends CredentialMemoryOptions {
  /** The engine's name: the realm of the challenge. */
  readonly engine: string
  readonly source: Pick<IdentitySource, 'verify' | 'stampOf' | 'noticesAll' | 'principalOf'>
  readonly throttle?: ThrottleOptions
  /** Absent or null: bearer tokens are not accepted. */
  readonly tokens?: TokenAuthenticator | null
  /** State of a previous authenticator for the same users. */
  readonly kept?: KeptAuthentication
  /** Called once per request with Basic credentials or none, for metrics; not if the users are unavailable (503). */
  readonly onResult?: (result: AuthenticationResult, method: AuthenticationMethod) => void
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
   * and GatewayError GW_THROTTLED, GW_OVERLOADED or, of a bearer token, GW_TOKEN_INVALID.
   */
  readonly authenticate: (header: string | undefined, address: string) => Principal | Promise<Principal>
  /**
   * Whom a certificate names, which the connection has proven. Synchronous for a cached user. Throws (or rejects with)
   * EngineRefusal 401 for a user whom the source does not know.
   */
  readonly vouchFor: (user: string) => Principal | Promise<Principal>
  /**
   * Whether nothing has changed that this authenticator notices since it identified the caller: the user, the token's expiry, the
   * keys of its issuer. @throws GatewayError if users or keys are unavailable now
   */
  readonly isCurrent: (principal: Principal) => boolean
  /** Whether the identification is so recent that a new request would rely on it, or no change can go unnoticed. */
  readonly isRecent: (principal: Principal) => boolean
  /** Whether `authenticate` would take this for Basic; counted and throttled as there. Rejects with GatewayError as it does. */
  readonly accepts: (credential: BasicCredential, address: string) => Promise<boolean>
}

const BY_CERTIFICATE: Authentication = { method: 'certificate', issuer: null }

/** Basic authentication against the users of one engine, and by bearer tokens where they are accepted. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { source, now, tokens = null } = options
  const kept = options.kept ?? {
    credentials: createRememberedCredentials(),
    throttle: createThrottle(now === undefined ? options.throttle : { now, ...options.throttle }),
  }
  const { throttle } = kept
  const memory = createCredentialMemory(options, kept.credentials)
  /** Apart from credentials: no header must be taken for one. */
  const vouched = createCredentialMemory(options)

  function prove({ user, password }: BasicCredential, key: string, address: string) {
    // A credential that was correct before is not a guess: its owner gets in while others at the same address are throttled.
    const proven = memory.wasVerified(key)
    const verify = () => source.verify({ user, password, from: networkOf(address), proven })
    return memory.verifyOnce(key, { user, stampOf: source.stampOf }, () =>
      proven ? verify() : throttle.attempt({ user, address }, verify),
    )
  }

  function missing(header: string | undefined): EngineRefusal {
    options.onResult?.('missing', 'none')
    const isEmpty = header === undefined || header === ''
    return challenge(options, isEmpty ? 'no credentials' : 'no readable Basic credentials')
  }

  const authenticate: Authenticator['authenticate'] = (header, address) => {
    if (header === undefined || header === '') throw missing(header)
    if (tokens !== null && isBearer(header)) return tokens.authenticate(header, address)
    if (header.length > MAX_HEADER_CHARS) throw missing(header)
    const key = memory.keyOf(header)
    const remembered = memory.recall(key, source.stampOf)
    if (remembered !== null) {
      options.onResult?.('remembered', 'basic')
      return remembered
    }
    const credential = readBasic(header)
    if (credential === null) throw missing(header)
    if (memory.failedLately(key, source.stampOf)) return conclude(Promise.resolve(null), 'basic', options)
    return conclude(prove(credential, key, address), 'basic', options)
  }

  return {
    kept,
    authenticate,
    isCurrent: (principal) =>
      principal === ANONYMOUS ||
      (memory.isCurrent(principal, source.stampOf) ??
        tokens?.isCurrent(principal) ??
        vouched.isCurrent(principal, source.stampOf) ??
        false),
    isRecent: (principal) =>
      principal === ANONYMOUS ||
      (tokens?.isRecent(principal) ??
        (source.noticesAll || memory.isRecent(principal) || vouched.isRecent(principal))),
    accepts: async (credential, address) => {
      const header = headerOf(credential)
      if (header === null) return false
      try {
        await authenticate(header, address)
        return true
      } catch (error) {
        if (error instanceof EngineRefusal) return false
        throw error
      }
    },
    vouchFor: (user) => {
      const key = vouched.keyOf(user)
      const remembered = vouched.recall(key, source.stampOf)
      if (remembered !== null) {
        options.onResult?.('remembered', 'certificate')
        return remembered
      }
      const proof = vouched.failedLately(key, source.stampOf)
        ? Promise.resolve(null)
        : vouched.verifyOnce(key, { user, stampOf: source.stampOf }, async () => {
            const principal = await source.principalOf(user)
            return principal === null ? null : { ...principal, authentication: BY_CERTIFICATE }
          })
      return conclude(proof, 'certificate', options)
    },
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u

/** Null: Basic cannot say it (RFC 7617 section 2: no colon in a user-id). */
function headerOf({ user, password }: BasicCredential): string | null {
  const text = `${user}:${password}`
  if (user.includes(':') || LONE_SURROGATE.test(text)) return null
  return `Basic ${Buffer.from(text).toString('base64')}`
}

async function conclude(
  proof: Promise<Principal | null>,
  method: AuthenticationMethod,
  options: AuthenticatorOptions,
): Promise<Principal> {
  const principal = await outcomeOf(proof, () => options.onResult?.('throttled', method))
  options.onResult?.(principal === null ? 'failed' : 'verified', method)
  if (principal === null) throw challenge(options, 'unknown user or wrong password')
  return principal
}

function challenge({ engine, tokens = null }: AuthenticatorOptions, reason: string): EngineRefusal {
  const basic = `Basic realm="${engine}"`
  return new EngineRefusal({
    status: 401,
    // RFC 9110 section 11.6.1: one header may hold several challenges.
    headers: { 'www-authenticate': tokens === null ? basic : `${basic}, Bearer realm="${engine}"` },
    reason,
  })
}
