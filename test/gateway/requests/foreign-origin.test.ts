import { pino } from 'pino'
import t from 'tap'
import { start } from '../../support/start.ts'
import { startNode } from '../../support/fake-engine.ts'
import { withForm } from '../../attacks/attack.ts'
import { BASE, configOf, openGateway } from '../../support/open-gateway.ts'
import { head, speak } from '../../support/raw.ts'

const REFUSED = { status: 403, headers: { 'x-gateway-error': 'GW_FOREIGN_ORIGIN' } }
/** Headers that Chromium 140 sends with a `no-cors` form from a page on another port. */
const SAME_SITE = { origin: 'http://localhost:9999', 'sec-fetch-site': 'same-site' }
const FORM = { body: withForm('a.bpmn', '<definitions/>').split('\r\n\r\n').slice(1).join('\r\n\r\n') }

t.test('a form of another page, sent with the credentials of the browser, deploys nothing', async (t) => {
  const gateway = await openGateway(t)
  const deploy = (headers: Readonly<Record<string, string>>) =>
    gateway.ask('demo', 'POST /deployment/create', {
      ...FORM,
      headers: { 'content-type': 'multipart/form-data; boundary=b', host: 'localhost:8080', ...headers },
    })
  for (const headers of [SAME_SITE, { origin: 'http://localhost:9999' }, { 'sec-fetch-site': 'same-site' }]) {
    const answer = await deploy(headers)
    t.match(answer, { ...REFUSED, body: { type: 'InvalidRequestException', code: null }, forwarded: [] })
  }
  // Headers of a client that is not a browser, and of a page of the gateway itself.
  const own = { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }
  for (const headers of [{}, own]) {
    const answer = await deploy(headers)
    t.not(answer.headers['x-gateway-error'], 'GW_FOREIGN_ORIGIN')
    t.equal(answer.forwarded.length, 1)
  }
})

t.test('a cross-origin write is refused before all other checks, and counted', async (t) => {
  const gateway = await openGateway(t)
  for (const user of [null, 'demo'])
    t.match(await gateway.ask(user, 'DELETE /nothing', { headers: SAME_SITE }), REFUSED)
  t.match(
    await gateway.dependencies.metrics.text(),
    /gateway_refusals_total\{engine="",operation="",stage="canonical",reason="GW_FOREIGN_ORIGIN"\} 2/,
  )
})

t.test(
  'a cross-origin read is served, because the browser does not show the response to the page',
  async (t) => {
    const { ask } = await openGateway(t)
    t.equal((await ask('demo', 'GET /version', { headers: SAME_SITE })).status, 200)
    t.equal((await ask('demo', 'GET /version', { headers: { origin: 'null' } })).status, 200)
  },
)

t.test('listed origins may send all requests', async (t) => {
  const settings = { listen: { port: 0, allowedOrigins: ['https://App.example:443'] } }
  const { ask } = await openGateway(t, { settings })
  const count = (origin: string) =>
    ask('demo', 'POST /task/count', { body: {}, headers: { origin, 'sec-fetch-site': 'cross-site' } })
  t.equal((await count('https://app.example')).status, 200)
  t.match(await count('https://other.example'), REFUSED)
})

t.test('cross-origin writes to a passthrough are refused, and writes of its own pages are not', async (t) => {
  const web = await startNode(t, (_request, response) => response.end('web'))
  const config = configOf(t, web.url + BASE, {
    settings: { health: { probe: false }, passthrough: [{ prefix: '/app', upstream: web.url }] },
  })
  const { address, drain } = await start(config, pino({ level: 'silent' }))
  t.teardown(drain)
  const post = (...lines: readonly string[]) => speak(address, head('POST /app/api', ...lines))
  t.match(await post('Origin: http://evil.example'), [REFUSED])
  t.match(await post('Sec-Fetch-Site: cross-site'), [REFUSED])
  t.same(web.seen, [])
  t.match(await post('Origin: https://gateway', 'Sec-Fetch-Site: same-origin'), [{ status: 200 }])
  t.equal(web.seen.length, 1)
})
