import { createServer, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT, type CryptoKey } from 'jose'
import type { Test } from 'tap'
import { listenUntilEnd } from './listen-until-end.ts'

/** A key pair of an issuer. */
export interface IssuerKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

export async function createKey(kid: string, alg = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** Claims of a token. Undefined claims are left out. */
export type Claims = Readonly<Record<string, unknown>>

export interface FakeIssuer {
  readonly url: string
  /** Paths of the requests that it received. */
  readonly asked: readonly string[]
  /** Keys that it publishes. A test may change them. */
  keys: readonly JWK[]
  /** Replaces the response if it is not null. */
  answer: ((path: string, response: ServerResponse) => void) | null
  /** Signs a token with `key`. By default it is from this issuer, for `gateway`, for mary, and valid for five minutes. */
  readonly sign: (
    key: IssuerKey,
    claims?: Claims,
    header?: Readonly<Record<string, unknown>>,
  ) => Promise<string>
}

export const AUDIENCE = 'gateway'

/** Starts an OpenID provider with the endpoints that a resource server uses. It ends with the test. */
export async function startIssuer(t: Test, ...keys: readonly IssuerKey[]): Promise<FakeIssuer> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    if (issuer.answer !== null) return issuer.answer(path, response)
    const document = documentOf(path)
    response.writeHead(document === null ? 404 : 200, { 'content-type': 'application/json' })
    return response.end(JSON.stringify(document))
  })
  const url = await listenUntilEnd(t, server)
  function documentOf(path: string): unknown {
    if (path === '/.well-known/openid-configuration') return { issuer: url, jwks_uri: `${url}/keys` }
    return path === '/keys' ? { keys: issuer.keys } : null
  }
  const issuer: FakeIssuer = {
    url,
    asked,
    keys: keys.map(({ jwk }) => jwk),
    answer: null,
    sign: (key, claims = {}, header = {}) => signToken(key, { iss: url, ...claims }, header),
  }
  return issuer
}

/** Signs a token. Undefined claims and header members are left out. */
export async function signToken(
  { privateKey, kid, alg }: Pick<IssuerKey, 'kid' | 'alg'> & { readonly privateKey: CryptoKey | Uint8Array },
  claims: Claims,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const at = Math.floor(Date.now() / 1000)
  const all = { sub: 'mary', aud: AUDIENCE, iat: at, exp: at + 300, ...claims }
  const payload: JWTPayload = JSON.parse(JSON.stringify(all))
  return new SignJWT(payload).setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header }).sign(privateKey)
}

export const bearer = (token: string): { readonly authorization: string } => ({
  authorization: `Bearer ${token}`,
})
