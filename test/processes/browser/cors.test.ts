import t, { type Test } from 'tap'
import { BROWSER_PATIENCE_MS, openPage } from '../../support/chromium.ts'
import { startNode } from '../../support/fake-engine.ts'
import { authorizationOf, BASE, openGateway } from '../../support/open-gateway.ts'
import { chromiumSkip } from '../../support/requirements.ts'

/** Returns a script whose value is the status and body of a fetch in a page, or `refused` if the browser does not expose the response. */
const fetchIn = (url: string, init: object) =>
  `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then(
    async (answer) => ({ status: answer.status, id: answer.headers.has('x-request-id'), text: await answer.text() }),
    () => 'refused',
  )`

async function startPage(t: Test): Promise<string> {
  const { url } = await startNode(t, (_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>page</title>')
  })
  return url
}

void t.test('CORS in a browser', { skip: chromiumSkip, timeout: 2 * BROWSER_PATIENCE_MS }, async (t) => {
  const [listed, other] = [await startPage(t), await startPage(t)]
  const gateway = await openGateway(t, { listen: true, settings: { mcp: {}, cors: { origins: [listed] } } })
  const page = await openPage(t)
  const visit = async (url: string) => {
    await page.send('Page.navigate', { url })
    await page.wait(`document.title === 'page' && location.href.startsWith(${JSON.stringify(url)})`)
  }
  const ask = (path: string, init: object = {}) => page.read(fetchIn(`${gateway.origin}${BASE}${path}`, init))
  const headers = { authorization: authorizationOf('demo') }
  const write = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"name":"a"}',
  }
  const writes = () => gateway.engine.seen.filter(({ url }) => url.endsWith('/signal')).length

  await t.test('a page of a listed origin can read and write', async (t) => {
    await visit(listed)
    t.match(await ask('/task', { headers }), { status: 200, id: true, text: /^\[/ })
    t.match(await ask('/engine/second/task', { headers }), { status: 200 })
    t.match(await ask('/task'), { status: 401, text: '' })
    t.match(await ask('/signal', write), { status: 204 })
    t.equal(writes(), 1)
    t.equal(await ask('/task', { headers: { ...headers, 'x-other': 'a' } }), 'refused')
    t.equal(await ask('/task', { method: 'DELETE', headers }), 'refused')
  })
  const tools = (init: object = {}) =>
    page.read(
      fetchIn(`${gateway.origin}/mcp`, {
        method: 'POST',
        headers: {
          ...headers,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-protocol-version': '2025-06-18',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
        ...init,
      }),
    )

  await t.test('a page of a listed origin can use tools, and open a stream', async (t) => {
    await visit(listed)
    t.match(await tools(), { status: 200, text: /"name":"getTasks"/ })
    t.match(await tools({ headers: { accept: 'application/json' } }), { status: 401 })
    t.equal(await tools({ method: 'DELETE', body: null }), 'refused')
    const stream = JSON.stringify({
      headers: { ...headers, accept: 'text/event-stream', 'last-event-id': 'a' },
    })
    const opened = `fetch(${JSON.stringify(`${gateway.origin}/mcp`)}, ${stream}).then(async ({ body }) => {
      const { value } = await body.pipeThrough(new TextDecoderStream()).getReader().read()
      return value
    }, () => 'refused')`
    t.match(await page.read(opened), /list_changed/)
  })
  await t.test('a page of another origin cannot use tools', async (t) => {
    await visit(other)
    t.equal(await tools(), 'refused')
  })
  await t.test('a page of another origin can neither read nor write', async (t) => {
    await visit(other)
    t.equal(await ask('/task', { headers }), 'refused')
    t.equal(await ask('/version'), 'refused')
    t.equal(await ask('/signal', write), 'refused')
    t.equal(writes(), 1)
  })
})
