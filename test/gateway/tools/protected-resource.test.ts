import t, { type Test } from 'tap'
import { authorizationOf, type OpenGateway, openGateway } from '../../support/open-gateway.ts'
import { AUDIENCE, bearer, createKey, startIssuer } from '../../support/token-issuer.ts'
import { connectTools } from '../../support/tool-client.ts'

const KEY = await createKey('one')
const METADATA = '/.well-known/oauth-protected-resource'

/** Opens a gateway that accepts the tokens of an issuer. */
async function openWithIssuer(t: Test, settings: Readonly<Record<string, unknown>> = {}) {
  const issuer = await startIssuer(t, KEY)
  const setting = {
    name: 'company',
    groupPrefix: '',
    issuer: issuer.url,
    audience: [AUDIENCE],
    claims: { groups: ['realm_access.roles'] },
  }
  const gateway = await openGateway(t, {
    listen: true,
    settings: {
      mcp: {},
      identity: { source: 'file', file: 'users.yaml', tokens: { issuers: [setting] } },
      ...settings,
    },
  })
  return { gateway, issuer }
}

async function post({ origin }: OpenGateway, path: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(origin + path, { method: 'POST', headers })
  return { status: response.status, challenge: response.headers.get('www-authenticate') ?? '' }
}

t.test('a client without a token finds the issuers', async (t) => {
  const { gateway, issuer } = await openWithIssuer(t)
  const { origin } = gateway
  for (const path of ['/mcp', '/mcp/engine/second', '/mcp/engine/none']) {
    const { status, challenge } = await post(gateway, path)
    t.equal(status, 401)
    t.match(challenge, /^Basic realm="[^"]+", Bearer realm="[^"]+", resource_metadata="/)
    const url = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? ''
    t.equal(url, `${origin}${METADATA}${path}`)
    const response = await fetch(url)
    t.equal(response.headers.get('content-type')?.split(';')[0], 'application/json')
    t.same(await response.json(), {
      resource: origin + path,
      authorization_servers: [issuer.url],
      bearer_methods_supported: ['header'],
    })
  }
  t.match(await (await fetch(origin + METADATA)).json(), { resource: `${origin}/mcp` })
  t.match(
    (await post(gateway, '/mcp', { authorization: 'Bearer a.b.c' })).challenge,
    /invalid_token.*, resource_metadata="/,
  )
})

t.test('a client with a token has the tools of its groups', async (t) => {
  const { gateway, issuer } = await openWithIssuer(t)
  const token = await issuer.sign(KEY, { sub: 'token-only', realm_access: { roles: ['clerks'] } })
  const { authorization } = bearer(token)
  const { call } = await connectTools(t, gateway.origin, '', { authorization })
  t.match(await call('getProcessDefinitions'), { structured: { items: [{ key: 'review' }] } })
})

t.test('the address of the metadata is the public one, and no header of a client changes it', async (t) => {
  const { gateway } = await openWithIssuer(t, { listen: { port: 0, publicUrl: 'https://gateway.example' } })
  const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
  t.match(
    (await post(gateway, '/mcp', headers)).challenge,
    /resource_metadata="https:\/\/gateway\.example\/\.well-known/,
  )
  const response = await fetch(`${gateway.origin}${METADATA}/mcp`, { headers })
  t.match(await response.json(), { resource: 'https://gateway.example/mcp' })
})

t.test('without issuers there is no metadata', async (t) => {
  const gateway = await openGateway(t, { settings: { mcp: {} }, listen: true })
  t.equal((await fetch(`${gateway.origin}${METADATA}/mcp`)).status, 404)
  t.notMatch(
    (await post(gateway, '/mcp', { authorization: authorizationOf('demo', 'x') })).challenge,
    /resource_metadata/,
  )
})

t.test('pages of listed origins may read the metadata, and other methods are refused', async (t) => {
  const origin = 'https://inspector.example'
  const { gateway } = await openWithIssuer(t, { cors: { origins: [origin] } })
  const asked = {
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'mcp-protocol-version',
  }
  const ask = (method: string, from: string, headers: object = {}) =>
    fetch(`${gateway.origin}${METADATA}/mcp`, { method, headers: { origin: from, ...headers } })
  const preflight = await ask('OPTIONS', origin, asked)
  t.equal(preflight.status, 204)
  t.equal(preflight.headers.get('access-control-allow-methods'), 'GET')
  t.match(preflight.headers.get('access-control-allow-headers'), /Mcp-Protocol-Version/)
  t.equal((await ask('GET', origin)).headers.get('access-control-allow-origin'), origin)
  const other = await ask('OPTIONS', 'https://evil.example', asked)
  t.equal(other.status, 405)
  t.equal(other.headers.get('allow'), 'GET')
  t.equal(other.headers.get('access-control-allow-origin'), null)
})
