import t, { type Test } from 'tap'
import { authorizationOf, openGateway } from '../../support/open-gateway.ts'

const PAGE = 'https://inspector.example'
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })

/** Opens a gateway with tools, and with the section `cors` unless it is null. */
async function openShared(t: Test, cors: object | null = { origins: [PAGE] }) {
  const gateway = await openGateway(t, {
    settings: { mcp: {}, ...(cors === null ? {} : { cors }) },
    listen: true,
  })
  const preflight = async (path: string, origin: string, method = 'POST') => {
    const response = await fetch(gateway.origin + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,mcp-protocol-version',
      },
    })
    await response.text()
    return { status: response.status, headers: Object.fromEntries(response.headers) }
  }
  const post = (headers: Readonly<Record<string, string>>) =>
    fetch(`${gateway.origin}/mcp`, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      body: LIST,
    })
  return { gateway, preflight, post }
}

t.test('a page of a listed origin gets the permission for the headers of the protocol', async (t) => {
  const { preflight, gateway } = await openShared(t)
  for (const path of ['/mcp', '/mcp/engine/second', '/mcp/engine/none'])
    for (const method of ['POST', 'GET']) {
      const { status, headers } = await preflight(path, PAGE, method)
      t.match(
        { status, headers },
        {
          status: 204,
          headers: {
            'access-control-allow-origin': PAGE,
            'access-control-allow-methods': 'GET, POST',
            vary: 'Origin',
          },
        },
      )
      const names = headers['access-control-allow-headers']?.toLowerCase().split(', ') ?? []
      for (const name of [
        'authorization',
        'content-type',
        'last-event-id',
        'mcp-protocol-version',
        'mcp-session-id',
      ])
        t.ok(names.includes(name), name)
    }
  const other = await preflight('/mcp', PAGE, 'DELETE')
  t.equal(other.status, 204)
  t.notOk('access-control-allow-origin' in other.headers)
  t.equal(gateway.engine.requests, 0)
})

t.test('a page of a listed origin reads responses and refusals', async (t) => {
  const { post } = await openShared(t)
  const listed = await post({ origin: PAGE, authorization: authorizationOf('mary') })
  t.equal(listed.status, 200)
  const refused = await post({ origin: PAGE })
  t.equal(refused.status, 401)
  for (const { headers } of [listed, refused]) {
    t.equal(headers.get('access-control-allow-origin'), PAGE)
    t.match(headers.get('access-control-expose-headers'), /X-Request-Id, Mcp-Session-Id, WWW-Authenticate$/)
  }
})

t.test('pages of other origins get no permission, with and without the section', async (t) => {
  for (const cors of [{ origins: [PAGE] }, null]) {
    const { preflight, post, gateway } = await openShared(t, cors)
    const { host } = new URL(gateway.origin)
    for (const origin of [
      'https://evil.example',
      'null',
      `http://${host}`,
      ...(cors === null ? [PAGE] : []),
    ]) {
      const { status, headers } = await preflight('/mcp', origin)
      t.equal(status, 403, origin)
      t.notOk('access-control-allow-origin' in headers, origin)
      const response = await post({ origin, authorization: authorizationOf('mary') })
      t.equal(response.status, 403, origin)
      t.equal(response.headers.get('access-control-allow-origin'), null)
    }
  }
})

t.test('credentials that the browser stores are allowed by the setting only', async (t) => {
  for (const credentials of [true, false]) {
    const { preflight } = await openShared(t, { origins: [PAGE], credentials })
    const { headers } = await preflight('/mcp', PAGE)
    t.equal('access-control-allow-credentials' in headers, credentials)
  }
})
