import { once } from 'node:events'
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { createLogger } from '../../../src/log.ts'
import { start } from '../../support/start.ts'
import { startNode } from '../../support/fake-engine.ts'
import { BROWSER_PATIENCE_MS, browse } from '../../support/chromium.ts'
import { chromiumSkip } from '../../support/requirements.ts'
import { BASE, configOf } from '../../support/open-gateway.ts'
import { listenUntilEnd } from '../../support/listen-until-end.ts'

/** Page of an application: it sends its own form, hides its referrer and then navigates to another page. */
const ownPage = (elsewhere: string) => `<!doctype html><iframe name=in></iframe>
<form method=post action="/app/form" target=in></form><script>
onload = async () => {
  await fetch(location.origin + '/app/fetch', { method: 'POST', body: '{}' })
  const loaded = new Promise((resolve) => document.querySelector('iframe').addEventListener('load', resolve))
  document.querySelector('form').submit()
  await loaded
  location = '${elsewhere}'
}</script>`

/** Page of another origin of the same site: the browser adds known credentials to the requests of this page. */
const foreignPage = (gateway: string) => `<!doctype html><script>
onload = async () => {
  const form = new FormData()
  form.append('data', new Blob(['<definitions/>']), 'a.bpmn')
  const init = { mode: 'no-cors', credentials: 'include' }
  await fetch('${gateway}${BASE}/version', init)
  await fetch('${gateway}${BASE}/deployment/create', { ...init, method: 'POST', body: form })
  await fetch('${gateway}/app/foreign', { ...init, method: 'POST', body: 'x' })
  await fetch('/done')
}</script>`

/** Starts a server that responds with a page. `done` resolves when the page has finished. */
async function startForeign(t: Test, page: () => string) {
  const server = createServer((request, response) => {
    if (request.url === '/done') server.emit('done')
    response.setHeader('content-type', 'text/html').end(page())
  })
  return { url: `${await listenUntilEnd(t, server)}/`, done: once(server, 'done') }
}

void t.test('browser credentials', { skip: chromiumSkip, timeout: 2 * BROWSER_PATIENCE_MS }, async (t) => {
  const engine = await startNode(t, (_request, response) =>
    response.setHeader('content-type', 'application/json').end('{}'),
  )
  const foreign = await startForeign(t, () => foreignPage(origin))
  const web = await startNode(t, ({ method }, response) => {
    response.setHeader('content-type', 'text/html')
    response.setHeader('referrer-policy', 'no-referrer').end(method === 'GET' ? ownPage(foreign.url) : 'done')
  })
  const lines: Readonly<Record<string, unknown>>[] = []
  const config = configOf(t, engine.url + BASE, {
    settings: { health: { probe: false }, passthrough: [{ prefix: '/app', upstream: web.url }] },
  })
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const { address: origin, drain } = await start(config, createLogger({ level: 'info', destination }))
  t.teardown(drain)

  await browse(t, `${origin.replace('//', '//demo:demo@')}/app/page`)
  const late = setTimeout(() => t.fail('the browser did not come to its end'), BROWSER_PATIENCE_MS)
  await foreign.done
  clearTimeout(late)

  const posts = [...engine.seen, ...web.seen].filter(({ method }) => method === 'POST')
  await t.test('requests of a page behind the gateway are forwarded', async (t) => {
    t.match(posts, [
      { url: '/fetch', headers: { origin, 'sec-fetch-site': 'same-origin' } },
      { url: '/form', headers: { origin: 'null', 'sec-fetch-site': 'same-origin' } },
    ])
  })
  await t.test('a page of another origin can use the stored credentials only for reads', async (t) => {
    t.match(
      lines.findLast(({ operation }) => operation === 'getRestAPIVersion'),
      { user: 'demo', status: 200 },
    )
    t.equal(posts.length, 2, 'no POST of that page came through')
    t.match(
      lines.filter(({ error }) => String(error).startsWith('GW_FOREIGN_ORIGIN')),
      [
        { method: 'POST', status: 403 },
        { method: 'POST', status: 403 },
      ],
    )
  })
})
