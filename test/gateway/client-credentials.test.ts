import { once } from 'node:events'
import { createServer } from 'node:http'
import OidcProvider from 'oidc-provider'
import t, { type Test } from 'tap'
import { exportJWK, generateKeyPair } from 'jose'
import { openGateway } from '../support/open-gateway.ts'
import { bearer } from '../support/token-issuer.ts'

const AUDIENCE = 'urn:engine-gateway'
const WORKER = { client_id: 'worker', client_secret: 'a-secret-of-the-worker-in-this-test' }

/** A provider that others have written, with one client that may have access tokens of its own. */
async function startProvider(t: Test): Promise<string> {
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
    clients: [{ ...WORKER, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'of-the-provider', alg: 'RS256', use: 'sig' }] },
    extraTokenClaims: () => ({ roles: ['clerks'] }),
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

async function accessTokenOf(issuer: string, resource: string): Promise<string> {
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${WORKER.client_id}:${WORKER.client_secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource }),
  })
  const { access_token: token }: { access_token?: string } = JSON.parse(await answer.text())
  if (token === undefined) throw new Error(`the provider answered ${answer.status}`)
  return token
}

t.test('a worker with client credentials of a provider is served by its groups', async (t) => {
  const issuer = await startProvider(t)
  const setting = { name: 'provider', issuer, audience: [AUDIENCE], types: ['at+jwt'], groupPrefix: '' }
  const claims = { client: 'client_id', groups: ['roles'] }
  const tokens = { issuers: [{ ...setting, claims }] }
  const gateway = await openGateway(t, {
    settings: { identity: { source: 'file', file: 'users.yaml', tokens } },
  })
  const headers = bearer(await accessTokenOf(issuer, AUDIENCE))
  const answer = await gateway.ask(null, 'GET /process-definition', { headers })
  t.equal(answer.status, 200)
  t.match(answer.body, [{ key: 'review' }])
  t.match(
    gateway.log.findLast(({ operation }) => operation !== undefined),
    { user: 'worker' },
  )
  const other = bearer(await accessTokenOf(issuer, 'urn:something-else'))
  t.equal((await gateway.ask(null, 'GET /task', { headers: other })).status, 401)
})
