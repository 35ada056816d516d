import { createHmac } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../errors.ts'

/** How an engine is told who the caller is. */
export interface UserHeader {
  /** In lower case. */
  readonly header: string
  /** Absent: the header is the plain id, and whoever reaches a node may write it. */
  readonly sign?: UserSignature | undefined
}

export interface UserSignature {
  /** In base64. */
  readonly secret: string
  readonly algorithm: keyof typeof DIGESTS
  /** Of a token, in ms. */
  readonly lifetime: number
}

const DIGESTS = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const

/** Tokens that are kept, one for each of so many users. */
const MAX_TOKENS = 10_000
/** What a header carries so that every reader sees the same: RFC 9110 section 5.5, without blanks at the ends. */
const TELLABLE = /^[!-~](?:[ -~]*[!-~])?$/

/** @throws GatewayError GW_USER_NOT_TOLD where an id does not fit into a plain header */
export function assertTellable({ sign }: UserHeader, user: string): void {
  if (sign === undefined && !TELLABLE.test(user)) throw new GatewayError('GW_USER_NOT_TOLD')
}

/** Makes the value of the header of a user's id. `wallMs`: the time of the day, in ms since 1970. */
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
    // Half of its life is left for the way to the engine.
    tokens.set(user, { value, renewAtMs: nowMs + sign.lifetime / 2 })
    return value
  }
}

/** A JSON Web Token: RFC 7519 sections 4.1.2, 4.1.4 and 4.1.6, signed as RFC 7518 section 3.2 says. */
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
