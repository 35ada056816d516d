import type { Authentication, Principal } from '../../request/principal.ts'
import { SingleFlight } from '../../request/single-flight.ts'
import { brokenRuleOf, readBearer, type TokenRules, type UnverifiedToken } from './bearer.ts'
import type { IdentitySource } from './identity-source.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { RENEWAL_SHARE } from '../../request/renewal-share.ts'
import { createRenewalState, type Renewals } from './renewals.ts'
import type { AttemptOrigin } from './attempt-pacer.ts'
import { networkOf, type Throttle, type ThrottleOptions } from './throttle.ts'
import { outcomeOf } from './throttled.ts'
import { type ClaimSettings, principalIn } from './token-claims.ts'
import { type TokenFault, tokenRefusalOf } from './token-faults.ts'
import type { TokenMemoryState, VerifiedToken } from './token-memory.ts'
import type { VerificationQueue } from './verification-queue.ts'
import { isSignedBy } from './verification-key.ts'

/** The origin of groups or tenants: the token's claims, the identity source, or both together. */
export type NamesFrom = 'token' | 'source' | 'both'

/** An issuer whose tokens are accepted, and how they are evaluated. */
export interface TokenIssuer extends TokenRules {
  readonly authentication: Authentication
  /** The issuer. Null for tokens of shared secrets, which name no issuer. */
  readonly iss: string | null
  readonly keys: Pick<IssuerKeys, 'find' | 'has'>
  readonly claims: ClaimSettings
  readonly groups: NamesFrom
  readonly tenants: NamesFrom
}

export interface TokensOptions {
  /** The engine's name, which is the realm of the challenge. */
  readonly engine: string
  /** The issuers by `iss`. The key null is for tokens without `iss`. */
  readonly issuers: ReadonlyMap<string | null, TokenIssuer>
  readonly source: Pick<IdentitySource, 'principalOf' | 'stampOf'>
  readonly remembered: TokenMemoryState
  /** How long a verified token needs no new verification. */
  readonly rememberMs: number
  /** How long the data of the identity source is used. */
  readonly rememberSourceMs: number
  /** How long a wrong signature is refused without another verification. */
  readonly rememberFailuresMs: number
  /** The renewals of the identity source. */
  readonly renewals: Renewals
  /** Limits the verifications of the process. */
  readonly verificationQueue: VerificationQueue
  /** Limits the verifications of one address after many wrong signatures. */
  readonly throttle: Throttle
  readonly onResult?: (result: TokenResult, method: TokenMethod) => void
  /** The monotonic clock, in milliseconds. Default: performance.now. */
  readonly now?: () => number
  /** The wall clock, in seconds. Default: Date.now. */
  readonly nowSeconds?: () => number
}

/** As for credentials: `expired` is a token whose identity source did not respond in time. */
export type TokenResult = 'remembered' | 'verified' | 'expired' | 'failed' | 'throttled'
/** The method of a token. `bearer`: a token whose issuer is not known. */
export type TokenMethod = Authentication['method'] | 'bearer'

/**
 * The limits for tokens with wrong signatures. Signatures cannot be guessed, so these limits only bound the cost of verifications.
 * After 50 wrong signatures of one address in 30 seconds, its tokens are verified in turns by the users that they name, at most 200
 * wrong ones per second. Correct tokens use no turn. A user is not slowed down by tokens that others send with the same user name
 * from other addresses.
 */
export const TOKEN_THROTTLE: ThrottleOptions = {
  perUserAndAddress: Number.POSITIVE_INFINITY,
  perAddress: 50,
  addressTurnMs: 5,
  maxHeld: 1024,
  slowUserAfter: Number.POSITIVE_INFINITY,
}

export interface TokenAuthenticator {
  readonly remembered: TokenMemoryState
  /**
   * Identifies the user of a token. Returns the principal for a cached token, otherwise a promise. Throws, or rejects with,
   * GatewayError: GW_TOKEN_INVALID, GW_RECORDS_UNAVAILABLE if keys or users are unavailable, GW_THROTTLED and GW_OVERLOADED if too
   * many verifications wait.
   */
  readonly authenticate: (header: string, address: string) => Principal | Promise<Principal>
  /**
   * Returns true if a verified token is still valid: it has not expired, its key was not withdrawn and its user has not changed.
   * Null if no token was verified for this object. @throws GatewayError if users or keys are unavailable
   */
  readonly isCurrent: (principal: Principal) => boolean | null
  /** Returns true if the token was verified within the time for which a verification is cached. Null as in `isCurrent`. */
  readonly isRecent: (principal: Principal) => boolean | null
}

/** Creates the authentication by bearer tokens (RFC 6750) of issuers, and by session tokens of a shared secret. */
export function createTokenAuthenticator(options: TokensOptions): TokenAuthenticator {
  const { issuers, source, remembered, renewals } = options
  const { now = () => performance.now(), nowSeconds = () => Date.now() / 1000 } = options
  const { keyOf, right, wrong, byPrincipal } = remembered
  const flights = new SingleFlight<Principal | TokenFault>()

  /** @throws GatewayError if no decision is possible any more */
  function recall(key: string): VerifiedToken | null {
    const entry = right.get(key)
    return entry !== undefined && isUsable(entry) && isValid(entry) ? entry : null
  }

  function isUsable({ at, until, renewal }: VerifiedToken): boolean {
    const nowMs = now()
    return nowMs < until || (until > at && renewals.isUsable(renewal, nowMs - at))
  }

  function lastGood(key: string): Principal | null {
    try {
      return recall(key)?.principal ?? null
    } catch {
      // The users or the keys are too old for a decision.
      return null
    }
  }

  function isExpired(principal: Principal): boolean {
    const entry = byPrincipal.get(principal)
    return entry !== undefined && entry.until > entry.at && now() >= entry.until
  }

  function isValid(entry: VerifiedToken): boolean {
    if (nowSeconds() >= entry.expiresAtSeconds) return false
    const issuer = issuers.get(entry.issuer)
    if (issuer === undefined || !issuer.keys.has(entry.key)) return false
    return stampOf(issuer, entry.principal) === entry.stamp
  }

  function stampOf(issuer: TokenIssuer, { userId }: Principal): unknown {
    return asksSource(issuer) ? source.stampOf(userId) : undefined
  }

  /** Verifies a token. Only this step is more expensive than parsing a token, so few verifications run at a time, in turns by origin. */
  async function verify(
    candidate: ReadToken,
    key: string,
    address: string,
    renewed: VerifiedToken | null = null,
  ): Promise<Principal | TokenFault> {
    const { token, issuer, principal } = candidate
    const verifying = await issuer.keys.find(token.kid, token.alg)
    if (verifying === null) return 'key'
    const stamp = stampOf(issuer, principal)
    const refused = wrong.get(key)
    if (refused?.key === verifying && refused.stamp === stamp && now() < refused.until) return refused.fault
    const at = now()
    const { compact, alg } = token
    const signed = { compact, alg, nowSeconds: nowSeconds(), skewSeconds: issuer.skewSeconds }
    const claim = { from: networkOf(address), proven: right.has(key), inBackground: renewed !== null }
    const look = () => options.verificationQueue(() => isSignedBy(verifying, signed), claim)
    const isSigned = claim.proven ? await look() : await attempt(look, { user: principal.userId, address })
    const known = isSigned ? await withSource(principal, issuer) : 'signature'
    // The source may have changed while it was read.
    if (stampOf(issuer, principal) === stamp)
      remember(key, known, { candidate, verifyingKey: verifying, stamp, at, renewed })
    return known
  }

  function remember(key: string, known: Principal | TokenFault, by: Verification): void {
    const { candidate, verifyingKey, stamp, at, renewed } = by
    const { token, issuer } = candidate
    if (typeof known === 'string') {
      right.delete(key)
      wrong.set(key, { fault: known, key: verifyingKey, stamp, until: at + options.rememberFailuresMs })
      return
    }
    // A later verification may have replaced or removed the entry.
    if (renewed !== null && right.peek(key) !== renewed) return
    const entry = {
      principal: known,
      issuer: issuer.iss,
      key: verifyingKey,
      stamp,
      at,
      ...timesOf(issuer, at, renewed !== null),
      renewal: createRenewalState(),
      expiresAtSeconds: Number(token.claims['exp']) + issuer.skewSeconds,
    }
    right.set(key, entry)
    byPrincipal.set(known, entry)
  }

  /** Returns when a token is due and when its time is over. If its renewal was slow, it still remains fresh until the next one. */
  function timesOf(issuer: TokenIssuer, at: number, isRenewed: boolean) {
    const rememberMs = rememberMsOf(issuer)
    const restMs = (1 - RENEWAL_SHARE) * rememberMs
    const until = isRenewed ? Math.max(at + rememberMs, now() + restMs) : at + rememberMs
    return { until, dueAt: until - restMs }
  }

  function renew(entry: VerifiedToken, header: string, key: string, address: string): void {
    const readToken = read(header)
    if ('fault' in readToken) return
    renewals.begin(entry.renewal, async () =>
      typeof (await verify(readToken, key, address, entry)) === 'string' ? 'refused' : 'renewed',
    )
  }

  /** Verifies a token for which a request waits. */
  function verifyForRequest(
    readToken: ReadToken,
    key: string,
    address: string,
  ): Promise<Principal | TokenFault> {
    const known = right.peek(key)
    const verification = verify(readToken, key, address)
    return known === undefined
      ? verification
      : renewals.orLastGood(known.renewal, verification, () => lastGood(key))
  }

  async function attempt(look: () => Promise<boolean>, who: AttemptOrigin): Promise<boolean> {
    return (await options.throttle.attempt(who, async () => (await look()) || null)) === true
  }

  function rememberMsOf(issuer: TokenIssuer): number {
    const { rememberMs, rememberSourceMs } = options
    return asksSource(issuer) ? Math.min(rememberMs, rememberSourceMs) : rememberMs
  }

  /** Adds groups and tenants of the source. The user must exist there, so that a user who was removed there is refused. */
  async function withSource(principal: Principal, issuer: TokenIssuer): Promise<Principal | TokenFault> {
    const { authentication, groups, tenants } = issuer
    if (!asksSource(issuer)) return { ...principal, authentication }
    const found = await source.principalOf(principal.userId)
    // A source that ignores case in names may find the entry of another user.
    if (found === null || found.userId !== principal.userId) return 'unknown-user'
    return {
      userId: principal.userId,
      groups: namesFrom(groups, principal.groups, found.groups),
      tenants: namesFrom(tenants, principal.tenants, found.tenants),
      authentication,
      ...(principal.claims === undefined ? {} : { claims: principal.claims }),
    }
  }

  /** Returns the parts of a token that can be evaluated without its signature. Any client could have written them. */
  function read(header: string): ReadToken | TokenRefusal {
    const token = readBearer(header)
    if (typeof token === 'string') return { fault: token, method: 'bearer' }
    const iss = token.claims['iss'] ?? null
    const issuer = iss === null || typeof iss === 'string' ? issuers.get(iss) : undefined
    if (issuer === undefined) return { fault: 'issuer', method: 'bearer' }
    const { method } = issuer.authentication
    const fault = brokenRuleOf(token, issuer, nowSeconds())
    if (fault !== null) return { fault, method }
    const principal = principalIn(token.claims, issuer.claims)
    return typeof principal === 'string' ? { fault: principal, method } : { token, issuer, principal }
  }

  function refusal({ fault, method }: TokenRefusal, { length }: string): Error {
    options.onResult?.('failed', method)
    return tokenRefusalOf(fault, options.engine, length)
  }

  async function conclude(
    proof: Promise<Principal | TokenFault>,
    method: TokenMethod,
    header: string,
  ): Promise<Principal> {
    const principal = await outcomeOf(proof, () => options.onResult?.('throttled', method))
    if (typeof principal === 'string') throw refusal({ fault: principal, method }, header)
    options.onResult?.(isExpired(principal) ? 'expired' : 'verified', method)
    return principal
  }

  return {
    remembered,
    isCurrent: (principal) => {
      const entry = byPrincipal.get(principal)
      return entry === undefined ? null : isValid(entry)
    },
    isRecent: (principal) => {
      const entry = byPrincipal.get(principal)
      return entry === undefined ? null : now() < entry.until
    },
    authenticate: (header, address) => {
      const key = keyOf(header)
      const known = recall(key)
      if (known !== null) {
        const { principal, dueAt, until } = known
        const nowMs = now()
        if (nowMs >= dueAt) renew(known, header, key, address)
        options.onResult?.(
          nowMs < until ? 'remembered' : 'expired',
          principal.authentication?.method ?? 'bearer',
        )
        return principal
      }
      const readToken = read(header)
      if ('fault' in readToken) throw refusal(readToken, header)
      const running = flights.running(key)?.result
      const proof = running ?? flights.begin(key, null, () => verifyForRequest(readToken, key, address))
      return conclude(proof, readToken.issuer.authentication.method, header)
    },
  }
}

interface ReadToken {
  readonly token: UnverifiedToken
  readonly issuer: TokenIssuer
  /** The principal as in the claims. */
  readonly principal: Principal
}

/** A verification of a token that has a result. */
interface Verification extends Pick<VerifiedToken, 'stamp' | 'at'> {
  readonly candidate: ReadToken
  readonly verifyingKey: VerifiedToken['key']
  /** The entry that a verification in the background renews. Null if a request waits for the result. */
  readonly renewed: VerifiedToken | null
}

interface TokenRefusal {
  readonly fault: TokenFault
  readonly method: TokenMethod
}

function asksSource({ groups, tenants }: TokenIssuer): boolean {
  return groups !== 'token' || tenants !== 'token'
}

function namesFrom(from: NamesFrom, claimed: readonly string[], found: readonly string[]): readonly string[] {
  if (from === 'token') return claimed
  return from === 'source' ? found : [...new Set([...claimed, ...found])]
}
