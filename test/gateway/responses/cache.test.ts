import type { ServerResponse } from 'node:http'
import t from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import type { Seen } from '../../support/fake-engine.ts'
import { idsOf } from '../../sandbox/asks.ts'
import { openGateway } from '../../support/open-gateway.ts'

const DIAGRAM = 'GET /decision-definition/key/discount/diagram'

const sandboxed = await openGateway(t)
const counted = await openGateway(t, { engine: createCountingEngine() })

/** Content types of responses that are not diagrams, by the key in the path. */
const PAGES: Readonly<Record<string, string>> = { html: 'text/html', json: 'application/json' }

/**
 * Creates an engine that numbers its responses, so that a cached response can be told from a new one. The key in the path may be a status,
 * or response headers as a JSON object. `DELETE /deployment/500` is refused, and `/deployment/lost` gets no response.
 */
function createCountingEngine() {
  let count = 0
  return ({ method, url }: Seen, response: ServerResponse): void => {
    count += 1
    const key = decodeURIComponent(/\/(?:key|deployment)\/([^/?]+)/.exec(url)?.[1] ?? '')
    if (key === 'lost') return void response.destroy()
    const headers: unknown = key.startsWith('{') ? JSON.parse(key) : {}
    const isModel = url.includes('/xml')
    response.setHeader('content-type', isModel ? 'application/json' : (PAGES[key] ?? 'image/png'))
    response.setHeader('cache-control', 'no-cache')
    for (const [name, value] of Object.entries(isRecord(headers) ? headers : {}))
      response.setHeader(name, String(value))
    const body = isModel ? JSON.stringify({ dmnXml: `${count}` }) : `${count}`
    response.writeHead(/^\d+$/.test(key) ? Number(key) : 200).end(method === 'HEAD' ? undefined : body)
  }
}

/** Returns the route of a diagram that no other test requests. */
function diagramOf(key: string): string {
  return `GET /decision-definition/key/${encodeURIComponent(key)}/diagram`
}

t.test('a cacheable response is fetched once, and Cache-Status names its source', async (t) => {
  const [first, second] = [await sandboxed.ask('demo', DIAGRAM), await sandboxed.ask('demo', DIAGRAM)]
  t.match(first, { status: 200, headers: { 'cache-status': 'engine-gateway; fwd=uri-miss; stored' } })
  t.notOk(first.headers['age'])
  t.match(second, { status: 200, headers: { age: /^\d+$/ } })
  t.same(second.forwarded, [])
  t.match(second.headers['cache-status'], /^engine-gateway; hit; ttl=\d+; detail=memory$/)
  t.same(second.bytes, first.bytes)
  for (const name of ['content-type', 'content-length', 'content-disposition', 'cache-control'])
    t.equal(second.headers[name], first.headers[name], name)
})

t.test('a fault page instead of a diagram is passed on and not stored', async (t) => {
  for (const [key, type] of Object.entries(PAGES)) {
    const route = diagramOf(key)
    const [first, second] = [await counted.ask('demo', route), await counted.ask('demo', route)]
    t.equal(first.status, 200)
    t.equal(first.headers['cache-status'], 'engine-gateway; fwd=uri-miss', type)
    t.equal(second.forwarded.length, 1, type)
    t.notSame(second.bytes, first.bytes, type)
  }
})

t.test('a client that has the current version gets 304', async (t) => {
  const { headers } = await sandboxed.ask('demo', DIAGRAM)
  const { etag = '' } = headers
  t.match(etag, /^"[^"]+"$/)
  for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const answer = await sandboxed.ask('demo', DIAGRAM, { headers: { 'if-none-match': given } })
    t.match(answer, { status: 304, headers: { etag, 'cache-control': 'no-cache', 'cache-status': /hit/ } })
    t.same([answer.bytes.length, answer.headers['content-type'], answer.forwarded], [0, undefined, []])
  }
  const other = await sandboxed.ask('demo', DIAGRAM, { headers: { 'if-none-match': '"other"' } })
  t.equal(other.status, 200)
})

t.test(
  'the request that fills the cache is sent without If-None-Match, Range and Accept-Encoding',
  async (t) => {
    const headers = { 'if-none-match': '"x"', range: 'bytes=0-1', 'accept-encoding': 'gzip' }
    const first = await counted.ask('demo', diagramOf('part'), { headers })
    t.equal(first.status, 200)
    for (const name of Object.keys(headers)) t.equal(first.forwarded[0]?.headers[name], undefined, name)
    t.equal((await counted.ask('demo', diagramOf('part'))).body, first.body)
  },
)

t.test('responses that differ by Accept, query, engine or prefix are cached separately', async (t) => {
  const asks = [
    ['/decision-definition/key/a/diagram', ''],
    ['/decision-definition/key/a/diagram', 'image/png'],
    ['/decision-definition/key/a/diagram?x=1', ''],
    ['/decision-definition/key/b/diagram', ''],
    ['/decision-definition/key/a/xml', ''],
    ['/engine/second/decision-definition/key/a/diagram', ''],
  ] as const
  const bodies: unknown[] = []
  for (const [path, accept] of [...asks, ...asks])
    bodies.push((await counted.ask('demo', `GET ${path}`, accept === '' ? {} : { headers: { accept } })).body)
  t.equal(new Set(bodies.map((body) => JSON.stringify(body))).size, asks.length)
  t.same(bodies.slice(asks.length), bodies.slice(0, asks.length))
})

t.test(
  'headers outside the cache key are not sent to the engine and do not change the response',
  async (t) => {
    const evil = { 'x-forwarded-host': 'evil', 'x-forwarded-proto': 'https', 'x-original-url': '/x' }
    const poisoned = await counted.ask('demo', diagramOf('poison'), { headers: evil })
    for (const name of Object.keys(evil)) t.equal(poisoned.forwarded[0]?.headers[name], undefined)
    t.equal((await counted.ask('demo', diagramOf('poison'))).body, poisoned.body)
  },
)

for (const headers of [
  { 'set-cookie': 'a=1' },
  { 'cache-control': 'private' },
  { 'cache-control': 'no-store' },
  { vary: 'user-agent' },
]) {
  t.test(`a response with ${JSON.stringify(headers)} is not cached`, async (t) => {
    const route = diagramOf(JSON.stringify(headers))
    const [first, second] = [await counted.ask('demo', route), await counted.ask('demo', route)]
    t.not(first.body, second.body)
    t.equal(second.headers['cache-status'], 'engine-gateway; fwd=uri-miss')
  })
}

for (const status of [204, 404, 500, 503]) {
  t.test(`a response with status ${status} is not cached`, async (t) => {
    await counted.ask('demo', diagramOf(`${status}`))
    const { status: given, forwarded } = await counted.ask('demo', diagramOf(`${status}`))
    t.same([given, forwarded.length], [status, 1])
  })
}

t.test(
  'a successful change of a deployment evicts the cached responses of its own engine only',
  async (t) => {
    const route = diagramOf('dropped')
    const named = route.replace('/', '/engine/second/')
    for (const one of [route, named]) await counted.ask('demo', one)
    t.equal((await counted.ask('demo', 'DELETE /deployment/500')).status, 500)
    t.equal(
      (await counted.ask('demo', route)).forwarded.length,
      0,
      'one that the engine refused drops nothing',
    )
    t.equal((await counted.ask('demo', 'DELETE /deployment/x')).status, 200)
    t.equal((await counted.ask('demo', route)).forwarded.length, 1)
    t.equal((await counted.ask('demo', named)).forwarded.length, 0)
  },
)

t.test('a change of a deployment whose outcome is unknown evicts the cached responses', async (t) => {
  const route = diagramOf('kept')
  await counted.ask('demo', route)
  t.equal((await counted.ask('demo', route)).forwarded.length, 0)
  t.equal((await counted.ask('demo', 'DELETE /deployment/lost')).status, 502)
  t.equal((await counted.ask('demo', route)).forwarded.length, 1)
})

t.test('concurrent requests for one diagram cause one request to the engine', async (t) => {
  const before = counted.engine.requests
  const answers = await Promise.all(Array.from({ length: 50 }, () => counted.ask('demo', diagramOf('herd'))))
  t.equal(new Set(answers.map(({ body }) => body)).size, 1)
  t.equal(counted.engine.requests - before, 1)
})

t.test('a response that depends on the caller is never cached', async (t) => {
  const [task] = await idsOf(sandboxed.engine.base, '/task')
  for (const route of ['GET /task', `GET /task/${task}`, 'GET /process-definition']) {
    await sandboxed.ask('demo', route)
    const { headers, forwarded } = await sandboxed.ask('demo', route)
    t.notOk(headers['cache-status'], route)
    t.ok(forwarded.length > 0, route)
  }
})

t.test('HEAD is sent to the engine even if the response to GET is cached', async (t) => {
  await counted.ask('demo', diagramOf('head'))
  const { forwarded, bytes } = await counted.ask('demo', diagramOf('head').replace('GET', 'HEAD'))
  t.match(forwarded, [{ method: 'HEAD' }])
  t.equal(bytes.length, 0)
})
