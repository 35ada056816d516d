import { pino } from 'pino'
import t from 'tap'
import { start } from '../support/start.ts'
import { startNode } from '../support/fake-engine.ts'
import { withForm } from '../attacks/attack.ts'
import { BASE, configOf, openGateway } from '../support/open-gateway.ts'
import { head, speak } from '../support/raw.ts'

const REFUSED = { status: 403, headers: { 'x-gateway-error': 'GW_FOREIGN_ORIGIN' } }
/** What Chromium 140 sends for a `no-cors` form of a page at another port. */
const SAME_SITE = { origin: 'http://localhost:9999', 'sec-fetch-site': 'same-site' }
const FORM = { body: withForm('a.bpmn', '<definitions/>').split('\r\n\r\n').slice(1).join('\r\n\r\n') }

t.test('a form that another page sends with the credentials of the browser deploys nothing', async (t) => {
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
  // As a client that is no browser sends it, and as a page of the gateway's own does.
  const own = { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }
  for (const headers of [{}, own]) {
    const answer = await deploy(headers)
    t.not(answer.headers['x-gateway-error'], 'GW_FOREIGN_ORIGIN')
    t.equal(answer.forwarded.length, 1)
  }
})

t.test('it is refused before anything else is looked at, and counted', async (t) => {
  const gateway = await openGateway(t)
  for (const user of [null, 'demo'])
    t.match(await gateway.ask(user, 'DELETE /nothing', { headers: SAME_SITE }), REFUSED)
  t.match(
    await gateway.parts.metrics.text(),
    /gateway_refusals_total\{engine="",operation="",stage="canonical",reason="GW_FOREIGN_ORIGIN"\} 2/,
  )
})

t.test('reads of other pages go on: the browser does not show them the answer', async (t) => {
  const { ask } = await openGateway(t)
  t.equal((await ask('demo', 'GET /version', { headers: SAME_SITE })).status, 200)
  t.equal((await ask('demo', 'GET /version', { headers: { origin: 'null' } })).status, 200)
})

t.test('origins that are listed may send everything', async (t) => {
  const settings = { listen: { port: 0, allowedOrigins: ['https://App.example:443'] } }
  const { ask } = await openGateway(t, { settings })
  const count = (origin: string) =>
    ask('demo', 'POST /task/count', { body: {}, headers: { origin, 'sec-fetch-site': 'cross-site' } })
  t.equal((await count('https://app.example')).status, 200)
  t.match(await count('https://other.example'), REFUSED)
})

t.test('it holds for what passes through, too, whose own pages are same-origin', async (t) => {
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
