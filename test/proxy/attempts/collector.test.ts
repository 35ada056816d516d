import { Readable } from 'node:stream'
import t from 'tap'
import { openUpstream, READ, refusalOf, startNode, startRawNode, WRITE } from '../../support/fake-engine.ts'

t.test('a fetched response is complete and its body owns its memory', async (t) => {
  const node = await startNode(t, (_request, response) =>
    response
      .writeHead(201, { 'Content-Type': 'application/json', Connection: 'close, X-A', 'X-A': 'b' })
      .end('[1]'),
  )
  const { upstream } = openUpstream(t, [node.url])
  const answer = await upstream.fetch(WRITE, 3)
  t.match(answer, { status: 201, headers: { 'content-type': 'application/json' } })
  t.same(Object.keys(answer.headers).sort(), ['content-type', 'date'])
  t.equal(answer.body.toString(), '[1]')
  t.equal(answer.body.buffer.byteLength, 3)
})

t.test('a long response is assembled from its chunks in memory of exactly its length', async (t) => {
  const pieces = [1, 70_000, 3, 200_000, 65_536].map((length, at) => Buffer.alloc(length, at + 1))
  const node = await startNode(t, (_request, response) => Readable.from(pieces).pipe(response))
  const { upstream } = openUpstream(t, [node.url])
  const whole = Buffer.concat(pieces)
  const { body } = await upstream.fetch(READ, whole.length)
  t.ok(body.equals(whole))
  t.equal(body.buffer.byteLength, whole.length)
  t.match(await refusalOf(upstream.fetch(READ, whole.length - 1)), { code: 'GW_UPSTREAM_INVALID' })
})

t.test('a response that exceeds the limit is refused as soon as its size is known', async (t) => {
  for (const known of [true, false]) {
    const node = await startNode(t, (_request, response) => {
      if (known) response.setHeader('Content-Length', 1000)
      response.write('a'.repeat(11)) // the response never ends
    })
    const { upstream, attempts } = openUpstream(t, [node.url, node.url])
    t.match(await refusalOf(upstream.fetch(READ, 10)), { code: 'GW_UPSTREAM_INVALID', statusCode: 502 })
    t.equal(node.seen.length, 1)
    t.match(attempts, [{ result: 'invalid', status: 200 }])
  }
})

t.test('HEAD may announce a length above the limit because no body follows', async (t) => {
  const node = await startNode(t, (_request, response) =>
    response.writeHead(200, { 'Content-Length': 1000 }).end(),
  )
  const { upstream } = openUpstream(t, [node.url])
  t.match(await upstream.fetch({ ...READ, method: 'HEAD' }, 10), { status: 200, body: { length: 0 } })
})

t.test('fetch requests a complete response without content encoding', async (t) => {
  const node = await startNode(t)
  const { upstream } = openUpstream(t, [node.url])
  const headers = { accept: 'a/b', 'accept-encoding': 'gzip', range: 'bytes=0-1', 'if-none-match': '"x"' }
  await upstream.fetch({ ...READ, headers }, 10)
  t.same(Object.keys(node.seen[0]?.headers ?? {}).sort(), ['accept', 'connection', 'host'])
})

t.test('a retried response contains nothing of the aborted one', async (t) => {
  const broken = await startRawNode(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\nX-From: broken\r\n\r\nhalf')
    setTimeout(() => socket.resetAndDestroy(), 20)
  })
  const node = await startNode(t)
  const { upstream, attempts } = openUpstream(t, [broken.url, node.url])
  const answer = await upstream.fetch(READ, 10)
  t.equal(answer.body.toString(), '{}')
  t.notHas(answer.headers, { 'x-from': 'broken' })
  t.match(attempts, [
    { result: 'reset', status: 200 },
    { result: 'ok', status: 200 },
  ])
  const { upstream: untried } = openUpstream(t, [broken.url, node.url])
  t.match(await refusalOf(untried.fetch(WRITE, 10)), { code: 'GW_OUTCOME_UNKNOWN' })
  t.equal(node.seen.length, 1)
})
