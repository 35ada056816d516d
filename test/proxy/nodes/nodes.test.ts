import t from 'tap'
import { READ, refusalOf, refusingUrl, startNode, startRawNode, WRITE } from '../../support/fake-engine.ts'
import { LIMIT, readTimes, TEN_GOOD, watch } from '../../support/watch-nodes.ts'

t.test('a node that refuses connections is tried once, and no request fails', async (t) => {
  const down = await refusingUrl()
  const up = await startNode(t)
  const { upstream, events } = watch(t, [down, up.url])
  const statuses = await readTimes(upstream, 20)
  t.match(await upstream.fetch(WRITE, LIMIT), { status: 200 })
  t.ok(statuses.every((status) => status === 200))
  t.match(events, [{ node: down, reason: 'refused', periodMs: 1000, healthy: 1, nodes: 2 }])
})

t.test('a node that responds with 502 immediately does not attract traffic', async (t) => {
  const failing = await startNode(t, (_request, response) => response.writeHead(502).end())
  const slow = await startNode(t, (_request, response) => setTimeout(() => response.end('{}'), 5))
  // The clock advances with each reading, so fast that the choice of node changes before a fifth failure in a row.
  const clock = { nowMs: 0 }
  const { upstream, events } = watch(t, [failing.url, slow.url], { now: () => (clock.nowMs += 10) })
  const statuses = await readTimes(upstream, 40)
  t.ok(failing.seen.length < 5, `${failing.seen.length}`)
  t.ok(statuses.slice(5).every((status) => status === 200))
  t.same(events, [])
})

t.test('five 502 in a row eject a node, and a trial brings it back with a tenth of its share', async (t) => {
  let status = 502
  const first = await startNode(t, (_request, response) => response.writeHead(status).end('{}'))
  const second = await startNode(t)
  const { upstream, events, clock } = watch(t, [first.url, second.url])
  await Promise.all(Array.from({ length: 10 }, () => upstream.fetch(READ, LIMIT)))
  t.match(events, [{ node: first.url, reason: 'gateway-error' }])
  t.same([first.seen.length, second.seen.length], [5, 10], 'and no read knows of it')
  await readTimes(upstream, 10)
  t.equal(first.seen.length, 5)
  status = 200
  clock.nowMs = 1000
  await readTimes(upstream, 10)
  t.match(events.slice(1), [{ node: first.url, reason: null, healthy: 2 }])
  t.equal(first.seen.length, 6, 'the trial; the rest goes to the warm one')
  clock.nowMs = 11_000
  await readTimes(upstream, 10)
  t.ok(first.seen.length > 6, 'ten seconds later it is one of two')
})

t.test('a 500 of the engine ejects no node', async (t) => {
  const nodes = await Promise.all(
    [1, 2].map(() => startNode(t, (_request, response) => response.writeHead(500).end('{"code":0}'))),
  )
  const { upstream, events } = watch(
    t,
    nodes.map(({ url }) => url),
  )
  await readTimes(upstream, 40)
  t.same(events, [])
})

t.test('an invalid request or an oversized response ejects no node', async (t) => {
  const node = await startNode(t, (_request, response) => response.end('x'.repeat(100)))
  const { upstream, events } = watch(t, [node.url, node.url])
  for (let i = 0; i < 6; i += 1) {
    await refusalOf(upstream.fetch(READ, 10))
    await refusalOf(upstream.fetch({ ...READ, headers: { 'x-a': 'b\r\nc: d' } }, LIMIT))
  }
  t.same(events, [])
})

t.test('a node that accepts requests and never responds is ejected by its timeouts', async (t) => {
  const hole = await startRawNode(t, () => {})
  const up = await startNode(t)
  const { upstream, changed } = watch(t, [hole.url, up.url], {
    timeouts: { connectMs: 500, headersMs: 50, bodyMs: 5000 },
  })
  await Promise.allSettled(Array.from({ length: 10 }, () => upstream.fetch(READ, LIMIT)))
  t.match(await changed(), { node: hole.url, reason: 'timeout' })
  t.same(await readTimes(upstream, 10), TEN_GOOD)
})

t.test('if all nodes are drained, requests are refused at once with 503', async (t) => {
  const drained = await startNode(t)
  const { upstream } = watch(t, [{ url: drained.url, drain: true }])
  t.match(await refusalOf(upstream.fetch(READ, LIMIT)), { code: 'GW_NO_NODE', retryAfterSeconds: 1 })
  t.same(drained.seen, [])
})

t.test('requests in flight are shared in proportion to the weights', async (t) => {
  const held: (() => void)[] = []
  const nodes = await Promise.all(
    [1, 2].map(() => startNode(t, (_request, response) => held.push(() => response.end()))),
  )
  const [small, large] = nodes
  const { upstream } = watch(t, [{ url: small?.url ?? '' }, { url: large?.url ?? '', weight: 3 }], {
    connections: 40,
  })
  const all = Array.from({ length: 40 }, () => upstream.fetch(READ, LIMIT))
  while (held.length < 40) await new Promise(setImmediate)
  t.same(
    nodes.map(({ seen }) => seen.length),
    [10, 30],
  )
  for (const end of held) end()
  await Promise.all(all)
})
