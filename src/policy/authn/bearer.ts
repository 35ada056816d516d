import { readJson } from '../../request/json.ts'
import { isObject, stringIn } from '../../request/value.ts'
import { MAX_BEARER_CHARS, type TokenFault } from './token-faults.ts'

/** The syntax of RFC 7515 section 7.1 within RFC 6750 section 2.1. An unsigned token has an empty third part and does not match. */
const BEARER = /^bearer +(([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+)$/i
const SCHEME = /^bearer(?: |$)/i
/** The first byte of a byte order mark, which RFC 8259 section 8.1 forbids to send and `readJson` ignores. */
const FIRST_BYTE_OF_MARK = 0xef

/** The contents of a token whose signature has not been verified. */
export interface UnverifiedToken {
  readonly compact: string
  readonly alg: string
  /** The key id, or null if the token has none. */
  readonly kid: string | null
  /** The type, in lower case and without `application/`, or null if the token has none. */
  readonly typ: string | null
  readonly claims: Readonly<Record<string, unknown>>
}

/** Header members that contain a key or its location, or change how the token is read (RFC 7515 section 4.1). They are never used. */
const REFUSED_MEMBERS = ['crit', 'jku', 'jwk', 'x5u', 'x5c', 'b64', 'zip'] as const
const MAX_KID_CHARS = 256

export function isBearer(header: string): boolean {
  return SCHEME.test(header)
}

/** Returns the contents of a token without verifying its signature, or the reason why the header contains no valid token. */
export function readBearer(header: string): UnverifiedToken | TokenFault {
  if (header.length > MAX_BEARER_CHARS) return 'too-long'
  const [, compact, head, payload] = BEARER.exec(header) ?? []
  const joseHeader = objectIn(head)
  const claims = objectIn(payload)
  if (compact === undefined || joseHeader === null || claims === null) return 'malformed'
  if (REFUSED_MEMBERS.some((member) => Object.hasOwn(joseHeader, member))) return 'header'
  const signature = signatureIn(joseHeader)
  return signature === null ? 'malformed' : { compact, ...signature, claims }
}

/** Returns the members of the header that concern the signature, or null if a member has the wrong type. */
function signatureIn({
  alg,
  kid = null,
  typ = null,
}: Readonly<Record<string, unknown>>): Pick<UnverifiedToken, 'alg' | 'kid' | 'typ'> | null {
  if (typeof alg !== 'string') return null
  if (kid !== null && (typeof kid !== 'string' || kid.length > MAX_KID_CHARS)) return null
  if (typ === null) return { alg, kid, typ }
  return typeof typ === 'string' ? { alg, kid, typ: typ.toLowerCase().replace(/^application\//, '') } : null
}

/**
 * Returns the encoded JSON object, or null if it is not valid. A member that occurs twice is not valid, because another reader of
 * the token may use the other value (RFC 7519 section 4).
 */
function objectIn(encoded = ''): Readonly<Record<string, unknown>> | null {
  const bytes = Buffer.from(encoded, 'base64url')
  if (bytes[0] === FIRST_BYTE_OF_MARK) return null
  try {
    const value = readJson(bytes)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** The rules that every token must satisfy in addition to its signature. */
export interface TokenRules {
  readonly algorithms: ReadonlySet<string>
  /** The accepted types, in lower case. A token without a type counts as `jwt`. */
  readonly types: ReadonlySet<string>
  /** The audiences of which `aud` must contain one. Null if tokens must have no audience. A token with one is then meant for another recipient. */
  readonly audience: ReadonlySet<string> | null
  /** The accepted difference between the clocks. */
  readonly skewSeconds: number
}

/** Returns the first rule that a token breaks, or null if only its signature remains to be verified. RFC 7519 section 4.1, RFC 9068 section 4. */
export function brokenRuleOf(
  { alg, typ, claims }: UnverifiedToken,
  { algorithms, types, audience, skewSeconds }: TokenRules,
  nowSeconds: number,
): TokenFault | null {
  if (!algorithms.has(alg)) return 'algorithm'
  if (!types.has(typ ?? 'jwt') || isOtherToken(claims)) return 'type'
  if (!isFor(claims['aud'], audience)) return 'audience'
  const { exp, nbf, iat } = claims
  if (typeof exp !== 'number' || !Number.isFinite(exp)) return 'expiry'
  if (exp + skewSeconds <= nowSeconds) return 'expired'
  return isBegun(nbf, nowSeconds + skewSeconds) && isBegun(iat, nowSeconds + skewSeconds) ? null : 'not-yet'
}

function isBegun(at: unknown, latest: number): boolean {
  return at === undefined || (typeof at === 'number' && at <= latest)
}

function isFor(aud: unknown, audience: ReadonlySet<string> | null): boolean {
  if (audience === null) return aud === undefined
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  return named.some((one) => typeof one === 'string' && audience.has(one))
}

/** The values by which Keycloak marks other kinds of tokens in the claim `typ`. */
const OTHER_TYPES: ReadonlySet<string> = new Set(['ID', 'Refresh', 'Offline', 'Logout'])

/**
 * Returns true for a token that is not an access token. ID tokens inform a client about the logged-in user and grant no access. Only
 * ID tokens contain these hashes: OpenID Connect Core section 3.
 */
function isOtherToken(claims: UnverifiedToken['claims']): boolean {
  return (
    OTHER_TYPES.has(stringIn(claims, 'typ') ?? '') ||
    Object.hasOwn(claims, 'at_hash') ||
    Object.hasOwn(claims, 'c_hash')
  )
}
