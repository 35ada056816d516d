import { type OperatorText, operatorText, EngineRefusal } from '../../errors.ts'
import { isBearer } from './bearer.ts'
import type { BasicCredential, CredentialMemoryOptions, CredentialMemoryState } from './credentials.ts'
import { ANONYMOUS, type Authentication, type Principal } from '../../request/principal.ts'
import {
  createCredentialMemory,
  createRememberedCredentials,
  MAX_HEADER_CHARS,
  readBasic,
} from './credentials.ts'
import type { IdentitySource } from './identity-source.ts'
import { createRenewals } from './renewals.ts'
import type { Throttle, ThrottleOptions } from './throttle.ts'
import { createThrottle, networkOf } from './throttle.ts'
import { outcomeOf } from './throttled.ts'
import type { TokenAuthenticator, TokenMethod } from './tokens.ts'

/**
 * The result of an authentication. `expired`: the credential was correct earlier, and the source of users did not respond in time to
 * verify it again.
 */
export type AuthenticationResult = 'remembered' | 'verified' | 'expired' | 'failed' | 'missing' | 'throttled'

/** The method by which a request authenticates. `none`: the request contains no credentials of a known method. */
export type AuthenticationMethod = TokenMethod | 'none'

export interface AuthenticatorOptions extends CredentialMemoryOptions {
  /** The engine's name, which is the realm of the challenge. */
  readonly engine: string
  readonly source: Pick<IdentitySource, 'verify' | 'stampOf' | 'noticesAll' | 'principalOf'>
  readonly throttle?: ThrottleOptions
  /** The authenticator of bearer tokens. If absent or null, bearer tokens are not accepted. */
  readonly tokens?: TokenAuthenticator | null
  /** The state of a previous authenticator for the same users. */
  readonly handoverState?: AuthenticationHandoverState | null
  /** Called once for each request with Basic credentials or without credentials, for metrics. Not called if the users are unavailable (503). */
  readonly onResult?: (result: AuthenticationResult, method: AuthenticationMethod) => void
}

/** The cached credentials and failures of one engine's users. They are plain values that remain when the configuration is replaced. */
export interface AuthenticationHandoverState {
  readonly credentials: CredentialMemoryState
  readonly throttle: Throttle
}

export interface Authenticator {
  readonly handoverState: AuthenticationHandoverState
  /**
   * Identifies the caller. Returns the principal for a cached credential, otherwise a promise. Throws, or rejects with,
   * EngineRefusal 401 and GatewayError GW_THROTTLED, GW_OVERLOADED or, for a bearer token, GW_TOKEN_INVALID.
   */
  readonly authenticate: (header: string | undefined, address: string) => Principal | Promise<Principal>
  /**
   * Identifies the user that a client certificate names. The connection has verified the certificate. Returns the principal for a
   * cached user, otherwise a promise. Throws, or rejects with, EngineRefusal 401 for a user that the source does not know.
   */
  readonly authenticateUser: (user: string) => Principal | Promise<Principal>
  /**
   * Returns true if nothing has changed since this authenticator identified the caller. It notices changes of the user, the expiry
   * of the token, and changes of its issuer's keys. @throws GatewayError if users or keys are unavailable now
   */
  readonly isCurrent: (principal: Principal) => boolean
  /** Returns true if the identification is recent enough to be valid for a new request, or if the source notices every change. */
  readonly isRecent: (principal: Principal) => boolean
  /**
   * Resolves to true if `authenticate` would accept this credential as Basic. The attempt is counted and throttled in the same way.
   * Rejects with the same GatewayErrors.
   */
  readonly accepts: (credential: BasicCredential, address: string) => Promise<boolean>
}

const BY_CERTIFICATE: Authentication = { method: 'certificate', issuer: null }

/** Creates the authenticator of one engine: Basic authentication against its users, and bearer tokens if they are accepted. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { source, now, tokens = null } = options
  const kept = options.handoverState ?? {
    credentials: createRememberedCredentials(),
    throttle: createThrottle(now === undefined ? options.throttle : { now, ...options.throttle }),
  }
  const { throttle } = kept
  const { renewals = createRenewals({ now }) } = options
  const memory = createCredentialMemory({ ...options, renewals }, kept.credentials)
  /** The users of certificates. They are separate from credentials, so that an Authorization header never matches a user name. */
  const certificateUsers = createCredentialMemory({ ...options, renewals })

  function prove({ user, password }: BasicCredential, key: string, address: string) {
    // A credential that was correct before is not a guess, so it is not throttled together with others from the same address.
    const proven = memory.wasVerified(key)
    const verify = () => source.verify({ user, password, from: networkOf(address), proven })
    return memory.verifyOnce(key, { user, stampOf: source.stampOf }, () =>
      proven ? verify() : throttle.attempt({ user, address }, verify),
    )
  }

  /** Reports the use of a remembered credential, and renews it if it is due. */
  function reuse(of: typeof memory, principal: Principal, renew: () => void): Principal {
    const freshness = of.freshnessOf(principal)
    if (freshness !== 'fresh') renew()
    const { method } = principal.authentication ?? { method: 'basic' }
    options.onResult?.(freshness === 'expired' ? 'expired' : 'remembered', method)
    return principal
  }

  function renewCredential(key: string, header: string, address: string): void {
    const credential = readBasic(header)
    if (credential === null) return
    const proof = { ...credential, from: networkOf(address), proven: true, inBackground: true }
    memory.renew(key, { user: credential.user, stampOf: source.stampOf }, () => source.verify(proof))
  }

  async function certificateUserOf(user: string): Promise<Principal | null> {
    const principal = await source.principalOf(user)
    return principal === null ? null : { ...principal, authentication: BY_CERTIFICATE }
  }

  function missing(header: string | undefined): EngineRefusal {
    options.onResult?.('missing', 'none')
    const isEmpty = header === undefined || header === ''
    return challenge(
      options,
      isEmpty ? operatorText`no credentials` : operatorText`no readable Basic credentials`,
    )
  }

  async function conclude(
    proof: Promise<Principal | null>,
    method: AuthenticationMethod,
    of: typeof memory,
  ): Promise<Principal> {
    const principal = await outcomeOf(proof, () => options.onResult?.('throttled', method))
    if (principal === null) {
      options.onResult?.('failed', method)
      throw challenge(options, operatorText`unknown user or wrong password`)
    }
    options.onResult?.(of.freshnessOf(principal) === 'expired' ? 'expired' : 'verified', method)
    return principal
  }

  const authenticate: Authenticator['authenticate'] = (header, address) => {
    if (header === undefined || header === '') throw missing(header)
    if (tokens !== null && isBearer(header)) return tokens.authenticate(header, address)
    if (header.length > MAX_HEADER_CHARS) throw missing(header)
    const key = memory.keyOf(header)
    const remembered = memory.recall(key, source.stampOf)
    if (remembered !== null) return reuse(memory, remembered, () => renewCredential(key, header, address))
    const credential = readBasic(header)
    if (credential === null) throw missing(header)
    const proof = memory.failedLately(key, source.stampOf)
      ? Promise.resolve(null)
      : prove(credential, key, address)
    return conclude(proof, 'basic', memory)
  }

  return {
    handoverState: kept,
    authenticate,
    isCurrent: (principal) =>
      principal === ANONYMOUS ||
      (memory.isCurrent(principal, source.stampOf) ??
        tokens?.isCurrent(principal) ??
        certificateUsers.isCurrent(principal, source.stampOf) ??
        false),
    isRecent: (principal) =>
      principal === ANONYMOUS ||
      (tokens?.isRecent(principal) ??
        (source.noticesAll || memory.isRecent(principal) || certificateUsers.isRecent(principal))),
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
    authenticateUser: (user) => {
      const key = certificateUsers.keyOf(user)
      const remembered = certificateUsers.recall(key, source.stampOf)
      const owner = { user, stampOf: source.stampOf }
      const read = () => certificateUserOf(user)
      if (remembered !== null)
        return reuse(certificateUsers, remembered, () => certificateUsers.renew(key, owner, read))
      const proof = certificateUsers.failedLately(key, source.stampOf)
        ? Promise.resolve(null)
        : certificateUsers.verifyOnce(key, owner, read)
      return conclude(proof, 'certificate', certificateUsers)
    },
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u

/** Returns the Basic header of a credential, or null if Basic cannot express it (RFC 7617 section 2: no colon in a user-id). */
function headerOf({ user, password }: BasicCredential): string | null {
  const text = `${user}:${password}`
  if (user.includes(':') || LONE_SURROGATE.test(text)) return null
  return `Basic ${Buffer.from(text).toString('base64')}`
}

function challenge({ engine, tokens = null }: AuthenticatorOptions, reason: OperatorText): EngineRefusal {
  const basic = `Basic realm="${engine}"`
  return new EngineRefusal({
    status: 401,
    // RFC 9110 section 11.6.1: one header may contain several challenges.
    headers: { 'www-authenticate': tokens === null ? basic : `${basic}, Bearer realm="${engine}"` },
    reason,
  })
}
