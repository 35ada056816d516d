import { createServer } from 'node:http'
import OidcProvider from 'oidc-provider'
import { exportJWK, generateKeyPair } from 'jose'
import type { Test } from 'tap'
import { listenUntilEnd } from './listen-until-end.ts'

export const AUDIENCE = 'urn:engine-gateway'
export const WORKER = { client_id: 'worker', client_secret: 'a-secret-of-the-worker-in-this-test' }
export const LOGIN_CLIENT = { client_id: 'login', client_secret: 'a-secret-of-the-login-in-this-test' }

type Settings = Readonly<Record<string, unknown>>

interface ProviderOptions {
  /** How the client sends its secret. Default: as Basic credentials. */
  readonly method?: 'client_secret_basic' | 'client_secret_post'
  /** Roles in the claim `roles` of the client's tokens. Default: clerks. */
  readonly roles?: readonly string[]
}

/** Starts a third-party OpenID provider with one client that may request access tokens for itself. Returns its issuer. */
export function startProvider(t: Test, options: ProviderOptions = {}): Promise<string> {
  return serve(t, {
    clients: [
      {
        ...WORKER,
        token_endpoint_auth_method: options.method ?? 'client_secret_basic',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    extraTokenClaims: () => ({ roles: options.roles ?? ['clerks'] }),
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
  })
}

interface LoginOptions {
  /** The URL to which the browser returns after the login. */
  readonly redirectUri: string
  /** The claims of the users that may log in, by the name that they enter. Any password is accepted. */
  readonly people: Readonly<Record<string, Settings>>
}

/**
 * Starts the same provider with pages where users log in for one client. Their claims are in ID tokens and access
 * tokens. Refresh tokens are not rotated.
 */
export function startLoginProvider(t: Test, { redirectUri, people }: LoginOptions): Promise<string> {
  return serve(t, {
    clients: [
      {
        ...LOGIN_CLIENT,
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [redirectUri],
        response_types: ['code'],
      },
    ],
    claims: { profile: ['preferred_username', 'name'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['of-the-cookies-in-this-test'] },
    extraTokenClaims: (_context: unknown, token: { readonly accountId?: string }) =>
      people[token.accountId ?? ''],
    findAccount: (_context: unknown, accountId: string) =>
      Object.hasOwn(people, accountId)
        ? { accountId, claims: () => ({ ...people[accountId], sub: accountId }) }
        : undefined,
    issueRefreshToken: () => true,
    rotateRefreshToken: false,
    ttl: { AccessToken: 300, Grant: 3600, IdToken: 300, Interaction: 300, RefreshToken: 3600, Session: 3600 },
    features: { devInteractions: { enabled: true } },
  })
}

/** @param settings configuration of the provider, in addition to JSON Web Tokens for one audience */
async function serve(
  t: Test,
  { features, ...settings }: Settings & { readonly features: Settings },
): Promise<string> {
  const server = createServer()
  const issuer = await listenUntilEnd(t, server)
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new OidcProvider(issuer, {
    ...settings,
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'of-the-provider', alg: 'RS256', use: 'sig' }] },
    features: {
      ...features,
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          audience: resource,
          scope: '',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
        useGrantedResource: () => true,
      },
    },
  })
  server.on('request', provider.callback())
  return issuer
}
