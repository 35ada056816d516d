import t from 'tap'
import { fetchJson } from '../../../src/policy/authn/fetch-json.ts'
import { startNode } from '../../support/fake-engine.ts'

const LIMITS = { withinMs: 5_000, maxBytes: 1_000 }

t.test('a document is read within its limits of time and size', async (t) => {
  const { url } = await startNode(t, ({ url: path }, response) => {
    if (path === '/good') return void response.end('{"a":1}')
    if (path === '/away') return void response.writeHead(503).end('{}')
    if (path === '/moved') return void response.writeHead(302, { location: '/good' }).end()
    if (path === '/text') return void response.end('hunter2')
    if (path === '/long') return void response.end(`"${'a'.repeat(1_000)}"`)
    return undefined // This path never responds.
  })
  t.same(await fetchJson(`${url}/good`, LIMITS), { a: 1 })
  await t.rejects(fetchJson(`${url}/away`, LIMITS), { message: `${url}/away: response status 503` })
  await t.rejects(fetchJson(`${url}/moved`, LIMITS), { message: /redirect/ })
  await t.rejects(fetchJson(`${url}/text`, LIMITS), { message: `${url}/text: the response is not JSON` })
  await t.rejects(fetchJson(`${url}/long`, LIMITS), { message: /longer than 1000 bytes/ })
  await t.rejects(fetchJson(`${url}/silent`, { ...LIMITS, withinMs: 50 }), { message: /timeout/ })
})

t.test('an unreachable URL is reported with the reason', async (t) => {
  await t.rejects(fetchJson('http://127.0.0.1:1/x', LIMITS), {
    message: /127\.0\.0\.1:1\/x: .*(bad port|ECONNREFUSED)/,
  })
})
