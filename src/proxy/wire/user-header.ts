import { createHmac } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../errors.ts'

/** The header that contains the id of the caller for an engine. */
export interface UserHeader {
  /** The header name, in lower case. */
  readonly header: string
  /** The signature of the header. Absent if the value is the plain id. Any client that can reach a node can then write the header. */
  readonly sign?: UserSignature | undefined
}

export interface UserSignature {
  /** The secret, in base64. */
  readonly secret: string
  readonly algorithm: keyof typeof DIGESTS
  /** The lifetime of a token, in ms. */
  readonly lifetime: number
}

const DIGESTS = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const

/** The maximum number of cached tokens, one for each user. */
const MAX_TOKENS = 10_000
/** Header values that every recipient reads in the same way: RFC 9110 section 5.5, without spaces at the ends. */
const TELLABLE = /^[!-~](?:[ -~]*[!-~])?$/

/**
 * Checks that a user id can be sent in the header.
 * @throws GatewayError GW_USER_NOT_TOLD if the id contains characters that a plain header cannot carry
 */
export function assertTellable({ sign }: UserHeader, user: string): void {
  if (sign === undefined && !TELLABLE.test(user)) throw new GatewayError('GW_USER_NOT_TOLD')
}

/** Creates a function that returns the header value for a user id. `wallMs` returns the wall-clock time, in ms since 1970. */
export function createUserHeaderValue(
  { header, sign }: UserHeader,
  wallMs: () => number = Date.now,
): (user: string) => string {
  if (sign === undefined) return (user) => user
  const scheme = header === 'authorization' ? 'Bearer ' : ''
  const tokenOf = createTokenOf(sign)
  const tokens = new LRUCache<string, { readonly value: string; readonly renewAtMs: number }>({
    max: MAX_TOKENS,
  })
  return (user) => {
    const nowMs = wallMs()
    const known = tokens.get(user)
    if (known !== undefined && nowMs < known.renewAtMs) return known.value
    const value = scheme + tokenOf(user, nowMs)
    // Half of the lifetime remains for the transmission to the engine.
    tokens.set(user, { value, renewAtMs: nowMs + sign.lifetime / 2 })
    return value
  }
}

/** Creates JSON Web Tokens (RFC 7519 sections 4.1.2, 4.1.4 and 4.1.6), signed according to RFC 7518 section 3.2. */
function createTokenOf({ secret, algorithm, lifetime }: UserSignature) {
  const key = Buffer.from(secret, 'base64')
  const head = base64Of({ alg: algorithm, typ: 'JWT' })
  return (user: string, nowMs: number): string => {
    const iat = Math.floor(nowMs / 1000)
    const signed = `${head}.${base64Of({ sub: user, iat, exp: iat + Math.ceil(lifetime / 1000) })}`
    return `${signed}.${createHmac(DIGESTS[algorithm], key).update(signed).digest('base64url')}`
  }
}

function base64Of(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
