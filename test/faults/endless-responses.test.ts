import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { Attempt } from '../../src/proxy/attempts/attempt.ts'
import { createNode } from '../../src/proxy/nodes/node.ts'
import { until } from '../support/cache-harness.ts'
import { ask, listenAndRelay, openUpstream, READ, refusalOf, startNode } from '../support/fake-engine.ts'

const LIMIT = 1_000_000
const SHORT = { connectMs: 500, headersMs: 5000, bodyMs: 5000, responseMs: 120 }

/** Starts a node whose response body never ends: each chunk arrives in time. */
function startDripping(t: Parameters<typeof startNode>[0], headers: Record<string, string> = {}) {
  return startNode(t, (_request, response) => {
    response.writeHead(200, headers)
    const drip = setInterval(() => response.write('.'), 10)
    response.on('close', () => clearInterval(drip))
  })
}

t.test('a buffered response that never ends is aborted at its deadline with a 504', async (t) => {
  const node = await startDripping(t)
  const { upstream } = openUpstream(t, [node.url], { timeouts: SHORT })
  const refusal = await refusalOf(upstream.fetch(READ, LIMIT))
  t.match(refusal, { code: 'GW_UPSTREAM_TIMEOUT', statusCode: 504 })
  t.equal(node.seen.length, 1, 'and not asked for again')
})

t.test('a relayed response whose head is not sent yet is aborted with a 504', async (t) => {
  const node = await startDripping(t, { 'content-length': '60000' })
  const { upstream } = openUpstream(t, [node.url], { timeouts: SHORT })
  const listener = await listenAndRelay(t, upstream, READ)
  t.match(await ask(listener.port), { status: 504, headers: { 'x-gateway-error': 'GW_UPSTREAM_TIMEOUT' } })
})

t.test('a streamed response that never ends is cut off', async (t) => {
  const node = await startDripping(t)
  const { upstream } = openUpstream(t, [node.url], { timeouts: SHORT })
  const listener = await listenAndRelay(t, upstream, READ)
  await t.rejects(ask(listener.port))
})

t.test('a response that exceeds its deadline ejects no node, because a client may be slow', async (t) => {
  const node = await startDripping(t)
  const { upstream } = openUpstream(t, [node.url], { timeouts: { ...SHORT, responseMs: 20 } })
  for (let i = 0; i < 6; i += 1) await refusalOf(upstream.fetch(READ, LIMIT))
  t.match(upstream.nodes(), [{ reason: null }])
})

t.test('the deadline of a response starts at its head, whatever the timeout of the head is', async (t) => {
  const node = await startDripping(t)
  for (const headersMs of [40, 5000]) {
    const { upstream } = openUpstream(t, [node.url], { timeouts: { ...SHORT, headersMs } })
    const startMs = performance.now()
    t.match(await refusalOf(upstream.fetch(READ, LIMIT)), { code: 'GW_UPSTREAM_TIMEOUT' })
    const ms = performance.now() - startMs
    t.ok(ms >= 115 && ms < 2000, `${ms} ms with ${headersMs} ms for the head`)
  }
})

t.test('pauses between chunks may exceed the body timeout in total', async (t) => {
  const node = await startNode(t, (_request, response) => {
    let left = 20
    const drip = setInterval(() => {
      left -= 1
      if (left > 0) response.write('.')
      else response.end()
      if (left === 0) clearInterval(drip)
    }, 20)
  })
  const { upstream } = openUpstream(t, [node.url], { timeouts: { ...SHORT, bodyMs: 200, responseMs: 5000 } })
  const { body } = await upstream.fetch(READ, LIMIT)
  t.equal(body.toString(), '.'.repeat(19), 'whole after twice that time')
})

t.test('the body timeout starts at the last chunk', async (t) => {
  const node = await startNode(t, (_request, response) => {
    response.write('.')
    setTimeout(() => response.write('.'), 150)
  })
  const { upstream } = openUpstream(t, [node.url], { timeouts: { ...SHORT, bodyMs: 300, responseMs: 5000 } })
  const startMs = performance.now()
  t.match(await refusalOf(upstream.fetch(READ, LIMIT)), { code: 'GW_UPSTREAM_TIMEOUT' })
  const ms = performance.now() - startMs
  t.ok(ms >= 440 && ms < 3000, `${ms} ms`)
})

t.test('the body timeout also applies after a longer pause of the reader', async (t) => {
  const served = await startNode(t, (_request, response) => response.write('.'))
  const node = createNode({
    url: served.url,
    suffix: '',
    connections: 1,
    connectMs: 500,
    weight: 1,
    isDrained: false,
    group: null,
    now: () => performance.now(),
    onChange: () => {},
  })
  t.teardown(() => node.pool.destroy())
  const ends: (string | undefined)[] = []
  const attempt = new Attempt(node, {
    head: (begun) => begun.pause(),
    data: () => {},
    ended: (_ended, cause) => ends.push(cause?.name),
  })
  const times = { headersMs: 5000, bodyMs: 100, responseMs: 60_000 }
  attempt.start({ method: 'GET', path: '/', headers: [], body: null, ...times }, false)
  await wait(350)
  t.same(ends, [], 'nobody has asked for more')
  attempt.resume()
  await until(() => ends.length === 1)
  t.same(ends, ['BodyTimeoutError'])
})
