import t from 'tap'
import { openUpstream, READ, startNode, WRITE } from '../support/fake-engine.ts'

const LIMIT = 1_000_000

t.test('the path is sent byte for byte, below the base path', async (t) => {
  const node = await startNode(t)
  const { upstream } = openUpstream(t, [`${node.url}/engine-rest/`])
  const paths = [
    '/task/a%2fb',
    '/user/a%20b/profile',
    "/x/!$&'()*+,=:@-._~",
    '/task?a=b&a=%C3%A9+c&sort=',
    '/task/..x/.y',
    '/task/%2E%2E/x',
    '/a//b',
  ]
  for (const path of paths) await upstream.fetch({ ...READ, path }, LIMIT)
  t.same(
    node.seen.map((request) => request.url),
    paths.map((path) => `/engine-rest${path}`),
  )
})

t.test('an engine with a remote name is addressed by that name', async (t) => {
  const node = await startNode(t)
  const { upstream } = openUpstream(t, [`${node.url}/engine-rest`], { remoteName: 'a b/c' })
  await upstream.fetch(READ, LIMIT)
  t.equal(node.seen[0]?.url, '/engine-rest/engine/a%20b%2Fc/task/x')
})

t.test('the body arrives unchanged, with its length and never chunked', async (t) => {
  const node = await startNode(t)
  const { upstream } = openUpstream(t, [node.url])
  const body = Buffer.from('{"a": 12345678901234567890, "b":1.0,\n "é":"\u0000"}')
  await upstream.fetch({ ...WRITE, body, headers: { ...WRITE.headers, 'content-length': '3' } }, LIMIT)
  t.same(node.seen[0]?.body, body)
  t.equal(node.seen[0]?.headers['content-length'], String(body.length))
  t.equal(node.seen[0]?.headers['transfer-encoding'], undefined)
})

t.test('a POST without a body has Content-Length 0, and a GET or DELETE has none', async (t) => {
  const node = await startNode(t)
  const { upstream } = openUpstream(t, [node.url])
  await upstream.fetch({ ...WRITE, body: null }, LIMIT)
  await upstream.fetch(READ, LIMIT)
  await upstream.fetch({ ...WRITE, method: 'DELETE', body: null }, LIMIT)
  t.same(
    node.seen.map(({ headers }) => headers['content-length']),
    ['0', undefined, undefined],
  )
})

t.test('the Host of the client is sent unless the Host of the node is configured', async (t) => {
  const node = await startNode(t)
  const upstreamRequest = { ...READ, headers: { host: 'gateway.example:8443' } }
  await openUpstream(t, [node.url]).upstream.fetch(upstreamRequest, LIMIT)
  await openUpstream(t, [node.url], { host: 'node' }).upstream.fetch(upstreamRequest, LIMIT)
  t.same(
    node.seen.map(({ headers }) => headers.host),
    ['gateway.example:8443', new URL(node.url).host],
  )
})

t.test('Authorization is sent only as configured, whatever the request contains', async (t) => {
  const node = await startNode(t)
  const upstreamRequest = { ...READ, headers: { authorization: 'Basic Y2FsbGVyOng=' } }
  await openUpstream(t, [node.url]).upstream.fetch(upstreamRequest, LIMIT)
  await openUpstream(t, [node.url], { credentials: 'forward' }).upstream.fetch(upstreamRequest, LIMIT)
  const credentials = { username: 'gate', password: 'pä:ss' }
  await openUpstream(t, [node.url], { credentials }).upstream.fetch(upstreamRequest, LIMIT)
  t.same(
    node.seen.map(({ headers }) => headers.authorization),
    [undefined, 'Basic Y2FsbGVyOng=', `Basic ${Buffer.from('gate:pä:ss').toString('base64')}`],
  )
})

t.test('concurrent requests are distributed over the nodes', async (t) => {
  const nodes = await Promise.all([startNode(t), startNode(t)])
  const { upstream, attempts } = openUpstream(
    t,
    nodes.map((node) => node.url),
  )
  await Promise.all(Array.from({ length: 6 }, () => upstream.fetch(READ, LIMIT)))
  t.same(
    nodes.map((node) => node.seen.length),
    [3, 3],
  )
  t.ok(attempts.every(({ result, status }) => result === 'ok' && status === 200))
})

t.test(
  'a request waits if all connections are busy, and is refused at once if the queue is full',
  async (t) => {
    const held: (() => void)[] = []
    const node = await startNode(t, (_request, response) => held.push(() => response.end()))
    const { upstream } = openUpstream(t, [node.url], {
      connections: 1,
      queue: { max: 1, waitMs: 5000 },
    })
    const first = upstream.fetch(WRITE, LIMIT)
    const second = upstream.fetch(WRITE, LIMIT)
    await t.rejects(upstream.fetch(WRITE, LIMIT), { code: 'GW_OVERLOADED', retryAfterSeconds: 1 })
    while (held.length < 1) await new Promise(setImmediate)
    held[0]?.()
    await first
    while (held.length < 2) await new Promise(setImmediate)
    held[1]?.()
    t.match(await second, { status: 200 })
    t.equal(node.seen.length, 2)
  },
)

t.test('a header that cannot be written is an internal error and reaches no node', async (t) => {
  const node = await startNode(t)
  const { upstream } = openUpstream(t, [node.url, node.url])
  await t.rejects(upstream.fetch({ ...READ, headers: { 'x-a': 'b\r\nx: y' } }, LIMIT), {
    code: 'GW_INTERNAL',
  })
  await t.rejects(upstream.fetch({ ...READ, path: '/a b' }, LIMIT), { code: 'GW_INTERNAL' })
  t.same(node.seen, [])
})

t.test('concurrent requests receive their own responses', async (t) => {
  const node = await startNode(t, (request, response) => {
    const answer = `${request.url} ${request.body.toString()}`
    if (request.url.endsWith('7')) response.write('')
    setImmediate(() => response.end(answer))
  })
  const { upstream } = openUpstream(t, [node.url, node.url], { connections: 3 })
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      upstream.fetch({ ...WRITE, path: `/n/${i}`, body: Buffer.from(`b${i}`) }, LIMIT),
    ),
  )
  t.same(
    answers.map((answer) => answer.body.toString()),
    answers.map((_, i) => `/n/${i} b${i}`),
  )
  t.equal(node.seen.length, 200)
})
