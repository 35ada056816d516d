import type { ServerResponse } from 'node:http'
import t from 'tap'
import { idsOf } from '../sandbox/asks.ts'
import type { Seen } from '../proxy/fake-engine.ts'
import { openGateway } from './open-gateway.ts'

const DIAGRAM = 'GET /decision-definition/key/discount/diagram'

/** Numbers its answers, so that one that is held can be told from one that is new. */
function countingEngine(headers: Readonly<Record<string, string>> = {}, status = 200) {
  let count = 0
  return ({ method }: Seen, response: ServerResponse): void => {
    count += method === 'GET' ? 1 : 0
    response.writeHead(status, { 'content-type': 'text/plain', 'cache-control': 'no-cache', ...headers })
    response.end(`${count}`)
  }
}

t.test('what may be held is asked for once, and says where it came from', async (t) => {
  const { ask } = await openGateway(t)
  const [first, second] = [await ask('demo', DIAGRAM), await ask('demo', DIAGRAM)]
  t.match(first, { status: 200, headers: { 'cache-status': 'engine-gateway; fwd=uri-miss; stored' } })
  t.notOk(first.headers.age)
  t.match(second, { status: 200, headers: { age: /^\d+$/ }, forwarded: [] })
  t.match(second.headers['cache-status'], /^engine-gateway; hit; ttl=\d+; detail=memory$/)
  t.same(second.bytes, first.bytes)
  for (const name of ['content-type', 'content-length', 'content-disposition', 'cache-control'] as const)
    t.equal(second.headers[name], first.headers[name], name)
})

t.test('who holds it already is told that it has not changed', async (t) => {
  const { ask } = await openGateway(t)
  const { headers } = await ask('demo', DIAGRAM)
  const { etag = '' } = headers
  t.match(etag, /^"[^"]+"$/)
  for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const answer = await ask('demo', DIAGRAM, { headers: { 'if-none-match': given } })
    t.match(answer, { status: 304, bytes: { length: 0 }, forwarded: [] })
    t.match(answer.headers, { etag, 'cache-control': 'no-cache', 'cache-status': /hit/ })
    t.notOk(answer.headers['content-type'])
  }
  t.match(await ask('demo', DIAGRAM, { headers: { 'if-none-match': '"other"' } }), { status: 200 })
})

t.test('the first who asks may be told so too, and the engine is asked for the whole', async (t) => {
  const { ask } = await openGateway(t)
  const { etag = '' } = (await ask('demo', DIAGRAM)).headers
  const other = await openGateway(t)
  const answer = await other.ask('demo', DIAGRAM, {
    headers: { 'if-none-match': etag, range: 'bytes=0-1', 'accept-encoding': 'gzip' },
  })
  t.equal(answer.status, 304)
  const { headers = {} } = answer.forwarded[0] ?? {}
  t.same(
    [headers['if-none-match'], headers.range, headers['accept-encoding']],
    [undefined, undefined, undefined],
  )
})

t.test('a part is not given out for the whole, nor kept for it', async (t) => {
  const { ask } = await openGateway(t)
  const part = await ask('demo', DIAGRAM, { headers: { range: 'bytes=0-1' } })
  t.equal(part.status, 200)
  t.same((await ask('demo', DIAGRAM)).bytes, part.bytes)
})

t.test('what differs by Accept, query, engine or prefix is held apart', async (t) => {
  const { ask } = await openGateway(t, { engine: countingEngine() })
  const asks = [
    ['/decision-definition/key/a/diagram', ''],
    ['/decision-definition/key/a/diagram', 'image/png'],
    ['/decision-definition/key/a/diagram?x=1', ''],
    ['/decision-definition/key/b/diagram', ''],
    ['/decision-definition/key/a/xml', ''],
    ['/engine/second/decision-definition/key/a/diagram', ''],
  ] as const
  for (const round of [1, 2]) {
    for (const [index, [path, accept]] of asks.entries()) {
      const { body } = await ask('demo', `GET ${path}`, accept === '' ? {} : { headers: { accept } })
      t.equal(body, `${index + 1}`, `${path} ${accept}, round ${round}`)
    }
  }
})

t.test('headers that are not in the key reach no engine and change no answer', async (t) => {
  const { ask } = await openGateway(t, { engine: countingEngine() })
  const evil = { 'x-forwarded-host': 'evil', 'x-forwarded-proto': 'https', 'x-original-url': '/x' }
  const poisoned = await ask('demo', DIAGRAM, { headers: evil })
  for (const name of Object.keys(evil)) t.equal(poisoned.forwarded[0]?.headers[name], undefined)
  t.equal((await ask('demo', DIAGRAM)).body, poisoned.body)
})

for (const headers of [
  { 'set-cookie': 'a=1' },
  { 'cache-control': 'private' },
  { 'cache-control': 'no-store' },
  { vary: 'user-agent' },
]) {
  t.test(`an answer with ${JSON.stringify(headers)} is not held`, async (t) => {
    const { ask } = await openGateway(t, { engine: countingEngine(headers) })
    const [first, second] = [await ask('demo', DIAGRAM), await ask('demo', DIAGRAM)]
    t.same([first.body, second.body], ['1', '2'])
    t.equal(second.headers['cache-status'], 'engine-gateway; fwd=uri-miss')
  })
}

for (const status of [204, 404, 500, 503]) {
  t.test(`an answer of ${status} is not held`, async (t) => {
    const { ask } = await openGateway(t, { engine: countingEngine({}, status) })
    await ask('demo', DIAGRAM)
    t.match(await ask('demo', DIAGRAM), { status, forwarded: [{ method: 'GET' }] })
  })
}

t.test('a deployment that passes drops what it may have changed, at its engine alone', async (t) => {
  const { ask } = await openGateway(t, { engine: countingEngine() })
  const named = DIAGRAM.replace('/', '/engine/second/')
  for (const route of [DIAGRAM, named]) await ask('demo', route)
  t.match(await ask('demo', 'DELETE /deployment/x'), { status: 200 })
  t.equal((await ask('demo', DIAGRAM)).forwarded.length, 1)
  t.equal((await ask('demo', named)).forwarded.length, 0)
})

t.test('one that the engine refuses drops nothing', async (t) => {
  const { ask } = await openGateway(t, {
    engine: ({ method }, response) =>
      response.writeHead(method === 'GET' ? 200 : 500, { 'content-type': 'text/plain' }).end('x'),
  })
  await ask('demo', DIAGRAM)
  t.equal((await ask('demo', 'DELETE /deployment/x')).status, 500)
  t.same((await ask('demo', DIAGRAM)).forwarded, [])
})

t.test('many who ask at once are one question', async (t) => {
  const { ask, engine } = await openGateway(t, { engine: countingEngine() })
  await ask('demo', 'GET /version')
  const before = engine.requests
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask('demo', DIAGRAM)))
  t.same(new Set(answers.map(({ body }) => body)).size, 1)
  t.equal(engine.requests - before, 1)
})

t.test('what everybody sees differently is never held', async (t) => {
  const { ask, engine } = await openGateway(t)
  const [task] = await idsOf(engine.base, '/task')
  for (const route of ['GET /task', `GET /task/${task}`, 'GET /process-definition']) {
    await ask('demo', route)
    const { headers, forwarded } = await ask('demo', route)
    t.notOk(headers['cache-status'], route)
    t.ok(forwarded.length > 0, route)
  }
})

t.test('HEAD is answered by the engine', async (t) => {
  const { ask } = await openGateway(t)
  await ask('demo', DIAGRAM)
  const { forwarded, bytes } = await ask('demo', DIAGRAM.replace('GET', 'HEAD'))
  t.match(forwarded, [{ method: 'HEAD' }])
  t.equal(bytes.length, 0)
})
