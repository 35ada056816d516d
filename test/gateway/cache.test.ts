import type { ServerResponse } from 'node:http'
import t from 'tap'
import { isRecord } from '../../src/request/value.ts'
import type { Seen } from '../support/fake-engine.ts'
import { idsOf } from '../sandbox/asks.ts'
import { openGateway } from '../support/open-gateway.ts'

const DIAGRAM = 'GET /decision-definition/key/discount/diagram'

const sandboxed = await openGateway(t)
const counted = await openGateway(t, { engine: createCountingEngine() })

/** Types of responses that are no diagrams, by the key in the path. */
const PAGES: Readonly<Record<string, string>> = { html: 'text/html', json: 'application/json' }

/**
 * Numbers its answers, so that one that is cached can be told from one that is new. The key in the path may be a status,
 * or a header to add as JSON; `DELETE /deployment/500` is refused, and to `/deployment/lost` there is no answer.
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

/** A diagram that no other test asks for. */
function diagramOf(key: string): string {
  return `GET /decision-definition/key/${encodeURIComponent(key)}/diagram`
}

t.test('what may be cached is asked for once, and says where it came from', async (t) => {
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

t.test('a fault page in the place of a diagram is passed on and not stored', async (t) => {
  for (const [key, type] of Object.entries(PAGES)) {
    const route = diagramOf(key)
    const [first, second] = [await counted.ask('demo', route), await counted.ask('demo', route)]
    t.equal(first.status, 200)
    t.equal(first.headers['cache-status'], 'engine-gateway; fwd=uri-miss', type)
    t.equal(second.forwarded.length, 1, type)
    t.notSame(second.bytes, first.bytes, type)
  }
})

t.test('who holds it already is told that it has not changed', async (t) => {
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

t.test('the first who asks is not given a part, and the engine is asked for the whole', async (t) => {
  const headers = { 'if-none-match': '"x"', range: 'bytes=0-1', 'accept-encoding': 'gzip' }
  const first = await counted.ask('demo', diagramOf('part'), { headers })
  t.equal(first.status, 200)
  for (const name of Object.keys(headers)) t.equal(first.forwarded[0]?.headers[name], undefined, name)
  t.equal((await counted.ask('demo', diagramOf('part'))).body, first.body)
})

t.test('what differs by Accept, query, engine or prefix is cached apart', async (t) => {
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

t.test('headers that are not in the key reach no engine and change no answer', async (t) => {
  const evil = { 'x-forwarded-host': 'evil', 'x-forwarded-proto': 'https', 'x-original-url': '/x' }
  const poisoned = await counted.ask('demo', diagramOf('poison'), { headers: evil })
  for (const name of Object.keys(evil)) t.equal(poisoned.forwarded[0]?.headers[name], undefined)
  t.equal((await counted.ask('demo', diagramOf('poison'))).body, poisoned.body)
})

for (const headers of [
  { 'set-cookie': 'a=1' },
  { 'cache-control': 'private' },
  { 'cache-control': 'no-store' },
  { vary: 'user-agent' },
]) {
  t.test(`an answer with ${JSON.stringify(headers)} is not cached`, async (t) => {
    const route = diagramOf(JSON.stringify(headers))
    const [first, second] = [await counted.ask('demo', route), await counted.ask('demo', route)]
    t.not(first.body, second.body)
    t.equal(second.headers['cache-status'], 'engine-gateway; fwd=uri-miss')
  })
}

for (const status of [204, 404, 500, 503]) {
  t.test(`an answer of ${status} is not cached`, async (t) => {
    await counted.ask('demo', diagramOf(`${status}`))
    const { status: given, forwarded } = await counted.ask('demo', diagramOf(`${status}`))
    t.same([given, forwarded.length], [status, 1])
  })
}

t.test('a deployment that passes drops what it may have changed, at its engine alone', async (t) => {
  const route = diagramOf('dropped')
  const named = route.replace('/', '/engine/second/')
  for (const one of [route, named]) await counted.ask('demo', one)
  t.equal((await counted.ask('demo', 'DELETE /deployment/500')).status, 500)
  t.equal((await counted.ask('demo', route)).forwarded.length, 0, 'one that the engine refused drops nothing')
  t.equal((await counted.ask('demo', 'DELETE /deployment/x')).status, 200)
  t.equal((await counted.ask('demo', route)).forwarded.length, 1)
  t.equal((await counted.ask('demo', named)).forwarded.length, 0)
})

t.test('a deployment that may have passed drops it, too', async (t) => {
  const route = diagramOf('kept')
  await counted.ask('demo', route)
  t.equal((await counted.ask('demo', route)).forwarded.length, 0)
  t.equal((await counted.ask('demo', 'DELETE /deployment/lost')).status, 502)
  t.equal((await counted.ask('demo', route)).forwarded.length, 1)
})

t.test('many who ask at once are one question', async (t) => {
  const before = counted.engine.requests
  const answers = await Promise.all(Array.from({ length: 50 }, () => counted.ask('demo', diagramOf('herd'))))
  t.equal(new Set(answers.map(({ body }) => body)).size, 1)
  t.equal(counted.engine.requests - before, 1)
})

t.test('what everybody sees differently is never cached', async (t) => {
  const [task] = await idsOf(sandboxed.engine.base, '/task')
  for (const route of ['GET /task', `GET /task/${task}`, 'GET /process-definition']) {
    await sandboxed.ask('demo', route)
    const { headers, forwarded } = await sandboxed.ask('demo', route)
    t.notOk(headers['cache-status'], route)
    t.ok(forwarded.length > 0, route)
  }
})

t.test('HEAD is answered by the engine', async (t) => {
  await counted.ask('demo', diagramOf('head'))
  const { forwarded, bytes } = await counted.ask('demo', diagramOf('head').replace('GET', 'HEAD'))
  t.match(forwarded, [{ method: 'HEAD' }])
  t.equal(bytes.length, 0)
})
