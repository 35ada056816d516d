import { once } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import {
  openUpstream,
  READ,
  refusalOf,
  refusingUrl,
  startNode,
  startRawNode,
  WRITE,
} from '../../support/fake-engine.ts'

const LIMIT = 1_000_000

t.test('no request, read or write, fails because one node refuses connections', async (t) => {
  const down = await refusingUrl()
  const up = await startNode(t)
  const { upstream, attempts } = openUpstream(t, [down, up.url])
  for (const upstreamRequest of [READ, WRITE, READ, WRITE])
    t.match(await upstream.fetch(upstreamRequest, LIMIT), { status: 200 })
  t.equal(up.seen.length, 4)
  t.same(
    attempts.slice(0, 2).map(({ result }) => result),
    ['refused', 'ok'],
  )
})

t.test('if all nodes are down, each is tried once and the response is a 503 with Retry-After', async (t) => {
  const { upstream, attempts } = openUpstream(t, [await refusingUrl(), await refusingUrl()])
  const refusal = await refusalOf(upstream.fetch(WRITE, LIMIT))
  t.match(refusal, { code: 'GW_NO_NODE', statusCode: 503, retryAfterSeconds: 1 })
  t.equal(attempts.length, 2)
})

t.test('a node whose name does not resolve counts as a node that refuses connections', async (t) => {
  const up = await startNode(t)
  const { upstream } = openUpstream(t, ['http://node.invalid:8080', up.url])
  t.match(await upstream.fetch(WRITE, LIMIT), { status: 200 })
})

t.test('a connection that is not open before the timeout counts as a refused one', async (t) => {
  const silent = await startRawNode(t, () => {}) // It never answers the TLS hello, so no connection is established.
  const up = await startNode(t)
  const nodes = [silent.url.replace('http:', 'https:'), up.url]
  const { upstream, attempts } = openUpstream(t, nodes, {
    timeouts: { connectMs: 50, headersMs: 5000, bodyMs: 5000 },
  })
  t.match(await upstream.fetch(WRITE, LIMIT), { status: 200 })
  t.equal(up.seen.length, 1)
  t.equal(attempts[0]?.result, 'timeout')
  t.ok((attempts[0]?.seconds ?? 9) < 0.4, 'the deadline is kept to the millisecond, not to half a second')
})

t.test('a read that is reset before the response head is retried once, on another node', async (t) => {
  const resetting = await startRawNode(t, (socket) => socket.resetAndDestroy())
  const up = await startNode(t)
  const { upstream, attempts } = openUpstream(t, [resetting.url, up.url])
  t.match(await upstream.fetch(READ, LIMIT), { status: 200 })
  t.equal(resetting.heard.length, 1)
  t.equal(up.seen.length, 1)
  t.match(attempts, [
    { result: 'reset', status: 0 },
    { result: 'ok', status: 200 },
  ])
})

t.test('a read is retried only once', async (t) => {
  const nodes = await Promise.all([1, 2, 3].map(() => startRawNode(t, (socket) => socket.resetAndDestroy())))
  const { upstream } = openUpstream(
    t,
    nodes.map((node) => node.url),
  )
  t.match(await refusalOf(upstream.fetch(READ, LIMIT)), { code: 'GW_UPSTREAM_FAILED', statusCode: 502 })
  t.same(
    nodes.map((node) => node.heard.length),
    [1, 1, 0],
  )
})

t.test('a write that is reset is never retried, and its outcome is unknown', async (t) => {
  for (const end of ['resetAndDestroy', 'destroy'] as const) {
    const resetting = await startRawNode(t, (socket) => socket[end]())
    const up = await startNode(t)
    const { upstream, attempts } = openUpstream(t, [resetting.url, up.url])
    t.match(await refusalOf(upstream.fetch(WRITE, LIMIT)), { code: 'GW_OUTCOME_UNKNOWN', statusCode: 502 })
    t.equal(resetting.heard.length, 1)
    t.same(up.seen, [])
    t.equal(attempts.length, 1)
  }
})

t.test(
  'after a reset on a keep-alive connection, a read is retried even with one node, and a write is not',
  async (t) => {
    for (const [upstreamRequest, count] of [
      [READ, 3],
      [WRITE, 2],
    ] as const) {
      const node = await startRawNode(t, (socket, heard) => {
        if (heard === 2) socket.resetAndDestroy()
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
      })
      const { upstream } = openUpstream(t, [node.url], { connections: 1 })
      await upstream.fetch(upstreamRequest, LIMIT)
      const second = upstream.fetch(upstreamRequest, LIMIT)
      if (upstreamRequest === READ) t.match(await second, { status: 200 })
      else t.match(await refusalOf(second), { code: 'GW_OUTCOME_UNKNOWN' })
      t.equal(node.heard.length, count)
    }
  },
)

t.test('a connection that the node closed while idle is not written to', async (t) => {
  const node = await startRawNode(t, (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'))
  const { upstream, attempts } = openUpstream(t, [node.url], { connections: 1 })
  for (let i = 0; i < 20; i += 1) {
    t.match(await upstream.fetch(WRITE, LIMIT), { status: 200 })
    await new Promise(setImmediate)
  }
  t.equal(node.heard.length, 20)
  t.ok(attempts.every(({ result }) => result === 'ok'))
})

t.test('a response head that is late is a 504, and neither a read nor a write is retried', async (t) => {
  for (const upstreamRequest of [READ, WRITE]) {
    const frozen = await startRawNode(t, () => {})
    const up = await startNode(t)
    const { upstream, attempts } = openUpstream(t, [frozen.url, up.url], {
      timeouts: { connectMs: 500, headersMs: 60, bodyMs: 5000 },
    })
    t.match(await refusalOf(upstream.fetch(upstreamRequest, LIMIT)), {
      code: 'GW_UPSTREAM_TIMEOUT',
      statusCode: 504,
    })
    t.equal(frozen.heard.length, 1)
    t.same(up.seen, [])
    t.match(attempts, [{ result: 'timeout' }])
    t.ok((attempts[0]?.seconds ?? 9) < 0.4)
  }
})

t.test('a request may set a longer timeout than its upstream', async (t) => {
  const slow = await startNode(t, (_request, response) => setTimeout(() => response.end(), 120))
  const { upstream } = openUpstream(t, [slow.url], {
    timeouts: { connectMs: 500, headersMs: 30, bodyMs: 5000 },
  })
  t.match(await upstream.fetch({ ...READ, headersMs: 5000 }, LIMIT), { status: 200 })
})

t.test('a request that times out in the queue is refused and never sent afterwards', async (t) => {
  const frozen = await startRawNode(t, () => {})
  const { upstream } = openUpstream(t, [frozen.url], {
    connections: 1,
    timeouts: { connectMs: 500, headersMs: 100, bodyMs: 5000 },
  })
  const first = refusalOf(upstream.fetch({ ...WRITE, headersMs: 300 }, LIMIT))
  t.match(await refusalOf(upstream.fetch(WRITE, LIMIT)), { code: 'GW_OVERLOADED', retryAfterSeconds: 1 })
  t.match(await first, { code: 'GW_UPSTREAM_TIMEOUT' })
  t.match(await refusalOf(upstream.fetch(WRITE, LIMIT)), { code: 'GW_UPSTREAM_TIMEOUT' })
  t.equal(frozen.heard.length, 2)
})

const HEAD = 'HTTP/1.1 200 OK\r\n'
const INVALID = {
  'no HTTP at all': 'SSH-2.0-OpenSSH_9.2\r\n\r\n',
  'Content-Length and Transfer-Encoding': `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  'two Content-Length': `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  'a bare CR in a value': `${HEAD}X-A: b\rc\r\nContent-Length: 0\r\n\r\n`,
  'a status below 100': 'HTTP/1.1 099 No\r\nContent-Length: 2\r\n\r\n{}',
  'a head of 20 KiB': `${HEAD}X-A: ${'a'.repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`,
}
for (const [what, bytes] of Object.entries(INVALID)) {
  t.test(
    `after an invalid response a write fails with 502, and the connection is closed: ${what}`,
    async (t) => {
      let closed: Promise<unknown> | undefined
      const node = await startRawNode(t, (socket) => {
        closed = once(socket, 'close')
        socket.write(bytes, 'latin1')
      })
      const { upstream, attempts } = openUpstream(t, [node.url])
      t.match(await refusalOf(upstream.fetch(WRITE, LIMIT)), { code: 'GW_UPSTREAM_INVALID', statusCode: 502 })
      await closed
      t.equal(node.heard.length, 1)
      t.match(attempts, [{ result: 'invalid' }])
    },
  )
}

t.test('a read with an invalid response is retried on another node', async (t) => {
  const bad = await startRawNode(t, (socket) => socket.write('nonsense\r\n\r\n'))
  const up = await startNode(t)
  const { upstream } = openUpstream(t, [bad.url, up.url])
  t.match(await upstream.fetch(READ, LIMIT), { status: 200 })
})

t.test("the engine's own errors pass unchanged and are not retried", async (t) => {
  for (const status of [400, 401, 500]) {
    const node = await startNode(t, (_request, response) =>
      response.writeHead(status, { 'Retry-After': '7' }).end('{"type":"RestException"}'),
    )
    const { upstream, attempts } = openUpstream(t, [node.url, node.url])
    const answer = await upstream.fetch(READ, LIMIT)
    t.match(answer, { status, headers: { 'retry-after': '7' } })
    t.equal(answer.body.toString(), '{"type":"RestException"}')
    t.equal(node.seen.length, 1)
    t.match(attempts, [{ result: 'ok', status }])
  }
})

t.test('a read is retried on another node after a 429, 502, 503 or 504, and a write is not', async (t) => {
  for (const status of [429, 502, 503, 504]) {
    const busy = await startNode(t, (_request, response) => response.writeHead(status).end('{}'))
    const up = await startNode(t)
    const { upstream } = openUpstream(t, [busy.url, up.url])
    t.match(await upstream.fetch(READ, LIMIT), { status: 200 }, `${status}`)
    t.same([busy.seen.length, up.seen.length], [1, 1], `${status}`)
    const { upstream: alone } = openUpstream(t, [busy.url])
    t.match(await alone.fetch(WRITE, LIMIT), { status }, `${status}`)
    t.equal(busy.seen.length, 2, `${status}`)
  }
})

t.test('interim responses are not taken for the final response', async (t) => {
  const node = await startRawNode(t, (socket) =>
    socket.write(
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}',
    ),
  )
  const { upstream } = openUpstream(t, [node.url])
  t.match(await upstream.fetch(READ, LIMIT), { status: 200, headers: { link: undefined } })
})

t.test('retries end when the retry budget is spent', async (t) => {
  const bad = await startRawNode(t, (socket) => socket.resetAndDestroy())
  const { upstream } = openUpstream(t, [bad.url], { now: () => 0 })
  for (let i = 0; i < 100; i += 1) await refusalOf(upstream.fetch(READ, LIMIT))
  t.equal(bad.heard.length, 100 + 10 + 19)
})

t.test('no read fails if a node dies under load', async (t) => {
  const held: Socket[] = []
  const dying = await startRawNode(t, (socket) => {
    held.push(socket)
  })
  const up = await startNode(t)
  const { upstream } = openUpstream(t, [dying.url, up.url], { connections: 40 })
  const answers = Array.from({ length: 80 }, () => upstream.fetch(READ, LIMIT))
  while (held.length < 40) await new Promise(setImmediate)
  for (const socket of held) socket.resetAndDestroy()
  t.ok((await Promise.all(answers)).every(({ status }) => status === 200))
  t.equal(up.seen.length, 80)
})

t.test('closing waits for requests in flight and refuses later ones', async (t) => {
  const slow = await startNode(t, (_request, response) => setTimeout(() => response.end('done'), 60))
  const { upstream } = openUpstream(t, [slow.url])
  const last = upstream.fetch(WRITE, LIMIT)
  while (slow.seen.length === 0) await new Promise(setImmediate)
  await upstream.close()
  t.equal((await last).body.toString(), 'done')
  t.match(await refusalOf(upstream.fetch(WRITE, LIMIT)), { code: 'GW_DRAINING' })
})

t.test('a node is not ejected if this process was blocked beyond the connect timeout', async (t) => {
  const node = await startNode(t, (_request, response) => response.end('{}'))
  const { upstream, attempts } = openUpstream(t, [node.url], {
    timeouts: { connectMs: 50, headersMs: 5000, bodyMs: 5000 },
  })
  const asked = upstream.fetch(READ, 10)
  const end = performance.now() + 200
  while (performance.now() < end);
  t.match(await asked, { status: 200 })
  t.match(attempts, [{ result: 'ok' }])
})

t.test('no attempt starts once the decision about a request no longer holds', async (t) => {
  const up = await startNode(t)
  const { upstream, attempts } = openUpstream(t, [up.url])
  for (const upstreamRequest of [READ, WRITE]) {
    const refusal = await refusalOf(
      upstream.fetch({ ...upstreamRequest, isStillPermitted: () => false }, LIMIT),
    )
    t.match(refusal, { code: 'GW_DECISION_OUTDATED', statusCode: 503, retryAfterSeconds: 1 })
  }
  t.same([up.seen.length, attempts.length], [0, 0])
})

t.test('a request is not sent to another node once its decision no longer holds', async (t) => {
  const { upstream, attempts } = openUpstream(t, [await refusingUrl(), await refusingUrl()])
  let checks = 0
  const isStillPermitted = () => (checks += 1) === 1
  const refusal = await refusalOf(upstream.fetch({ ...READ, isStillPermitted }, LIMIT))
  t.match(refusal, { code: 'GW_DECISION_OUTDATED' })
  t.equal(attempts.length, 1)
})
