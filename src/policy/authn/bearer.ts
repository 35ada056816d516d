import { readJson } from '../../request/json.ts'
import { isObject, stringIn } from '../../request/value.ts'
import { MAX_BEARER_CHARS, type TokenFault } from './token-faults.ts'

/** RFC 7515 section 7.1 in RFC 6750 section 2.1. An unsigned token has no third part. */
const BEARER = /^bearer +(([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+)$/i
const SCHEME = /^bearer(?: |$)/i
/** The first byte of a byte order mark, which RFC 8259 section 8.1 forbids to send and `readJson` ignores. */
const FIRST_BYTE_OF_MARK = 0xef

/** What a token says of itself. Nothing of it is proved. */
export interface UnverifiedToken {
  readonly compact: string
  readonly alg: string
  /** Null: none. */
  readonly kid: string | null
  /** In lower case, without `application/`; null: none. */
  readonly typ: string | null
  readonly claims: Readonly<Record<string, unknown>>
}

/** Members that bring a key or a place of one, or change how the rest is read (RFC 7515 section 4.1). None is ever followed. */
const REFUSED_MEMBERS = ['crit', 'jku', 'jwk', 'x5u', 'x5c', 'b64', 'zip'] as const
const MAX_KID_CHARS = 256

export function isBearer(header: string): boolean {
  return SCHEME.test(header)
}

/** Reads a token without a look at its signature; else says why it can be none. */
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

/** Null: a member is not of the type that it must have. */
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

/** Returns null for a member that is given twice as well: another reader of the token may take the other value (RFC 7519 section 4). */
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

/** What every token is held against, beside its keys. */
export interface TokenRules {
  readonly algorithms: ReadonlySet<string>
  /** In lower case; a token without a type is a `jwt`. */
  readonly types: ReadonlySet<string>
  /** One of these must be in `aud`; null: the tokens have none, and one that has is meant for somebody else. */
  readonly audience: ReadonlySet<string> | null
  /** How far the clocks may differ. */
  readonly skewSeconds: number
}

/** The first rule that a token breaks; null: only its signature is left to look at. RFC 7519 section 4.1, RFC 9068 section 4. */
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

/** Keycloak names its tokens in the claim `typ`. */
const OTHER_TYPES: ReadonlySet<string> = new Set(['ID', 'Refresh', 'Offline', 'Logout'])

/** ID tokens tell a client who has logged in, and open nothing. Only they have these hashes: OpenID Connect Core section 3. */
function isOtherToken(claims: UnverifiedToken['claims']): boolean {
  return (
    OTHER_TYPES.has(stringIn(claims, 'typ') ?? '') ||
    Object.hasOwn(claims, 'at_hash') ||
    Object.hasOwn(claims, 'c_hash')
  )
}
