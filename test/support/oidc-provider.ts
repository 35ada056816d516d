import { once } from 'node:events'
import { createServer } from 'node:http'
import OidcProvider from 'oidc-provider'
import { exportJWK, generateKeyPair } from 'jose'
import type { Test } from 'tap'

export const AUDIENCE = 'urn:engine-gateway'
export const WORKER = { client_id: 'worker', client_secret: 'a-secret-of-the-worker-in-this-test' }

interface ProviderOptions {
  /** How the client shows its secret. Default: as Basic. */
  readonly method?: 'client_secret_basic' | 'client_secret_post'
  /** Of the client's tokens, in the claim `roles`. Default: clerks. */
  readonly roles?: readonly string[]
}

/** A provider that others have written, with one client that may have access tokens of its own. Returns its issuer. */
export async function startProvider(t: Test, options: ProviderOptions = {}): Promise<string> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new OidcProvider(issuer, {
    clients: [
      {
        ...WORKER,
        token_endpoint_auth_method: options.method ?? 'client_secret_basic',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'of-the-provider', alg: 'RS256', use: 'sig' }] },
    extraTokenClaims: () => ({ roles: options.roles ?? ['clerks'] }),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          audience: resource,
          scope: '',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  })
  server.on('request', provider.callback())
  return issuer
}
