import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { AttemptEvent, UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import { type FakeNode, READ, refusalOf, startNode, startRawNode, WRITE } from '../../support/fake-engine.ts'
import { LIMIT, NAMES, watch } from '../../support/watch-nodes.ts'

const PROBES = { intervalMs: 20, timeoutMs: 50 }
const LONG = { connectMs: 500, headersMs: 30_000, bodyMs: 30_000 }
const SHIFT = {
  to: 'new',
  from: 'old',
  reads: 1,
  writes: 1,
  operations: null,
  callers: null,
  limits: null,
  onReturn: () => undefined,
}

/** Resolves when the node has received this many requests. Further chunks are requests of probes. */
async function untilHeard({ heard }: { readonly heard: readonly string[] }, requests: number): Promise<void> {
  while (heard.length < requests) await wait(5)
}

/** Starts a node that also answers probes. */
const startEngine = (t: Test): Promise<FakeNode> => startNode(t, (_request, response) => response.end(NAMES))

const many = (count: number, request: UpstreamRequest): readonly UpstreamRequest[] =>
  Array.from({ length: count }, () => request)

t.test(
  'when a node is ejected, the reads that wait for it are sent to another node, and no write is',
  async (t) => {
    const silent = await startRawNode(t, () => {})
    const up = await startEngine(t)
    const attempts: AttemptEvent[] = []
    const { upstream, changed } = watch(t, [silent.url, up.url], {
      timeouts: LONG,
      onAttempt: (event) => attempts.push(event),
    })
    // The load of both nodes is equal, so each gets every second request.
    const reads = many(8, READ).map((read) => upstream.fetch(read, LIMIT))
    const write = refusalOf(upstream.fetch({ ...WRITE, headersMs: 800 }, LIMIT))
    await untilHeard(silent, 5)
    upstream.startProbes(PROBES)
    t.match(await changed(), { node: silent.url, reason: 'probe' })
    for (const response of await Promise.all(reads)) t.match(response, { status: 200, node: up.url })
    const moved = attempts.filter(({ result }) => result === 'moved')
    t.same(
      moved.map(({ node, endedBy, status }) => [node, endedBy, status]),
      many(4, READ).map(() => [silent.url, 'gateway', 0]),
    )
    t.equal(up.seen.filter(({ method }) => method === 'POST').length, 0, 'a write may have had an effect')
    t.match(await write, { code: 'GW_UPSTREAM_TIMEOUT' })
  },
)

t.test('a read that has begun to arrive is not moved', async (t) => {
  const slow = await startRawNode(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{'),
  )
  const up = await startEngine(t)
  const { upstream, changed } = watch(t, [slow.url, up.url], {
    timeouts: { connectMs: 500, headersMs: 30_000, bodyMs: 400 },
  })
  const read = upstream.fetch(READ, LIMIT)
  await untilHeard(slow, 1)
  upstream.startProbes(PROBES)
  t.match(await changed(), { node: slow.url })
  t.match(await refusalOf(read), { code: 'GW_UPSTREAM_TIMEOUT' })
  t.equal(up.seen.filter(({ url }) => url.includes('/task/')).length, 0)
})

t.test('beyond the retry budget, reads go on waiting, and are moved later', async (t) => {
  const silent = await startRawNode(t, () => {})
  const other = await startRawNode(t, () => {})
  const up = await startEngine(t)
  const { upstream, changed, clock } = watch(t, [silent.url, other.url, up.url], {
    timeouts: LONG,
    connections: 30,
  })
  // The budget is as large as the number of connections of one node.
  const reads = many(90, READ).map((read) => upstream.fetch(read, LIMIT))
  await untilHeard(silent, 30)
  await untilHeard(other, 30)
  let responses = 0
  for (const read of reads) void read.then(() => (responses += 1))
  upstream.startProbes(PROBES)
  await changed()
  await changed()
  await wait(200)
  t.equal(responses, 60)
  clock.nowMs = 60_000
  for (const response of await Promise.all(reads)) t.match(response, { status: 200, node: up.url })
})

t.test('when all requests return to the other group, waiting reads do, too', async (t) => {
  const silent = await startRawNode(t, () => {})
  const old = await startEngine(t)
  const { upstream } = watch(
    t,
    [
      { url: silent.url, group: 'new' },
      { url: old.url, group: 'old' },
    ],
    { timeouts: LONG, shift: SHIFT },
  )
  const reads = many(3, READ).map((read) => upstream.fetch(read, LIMIT))
  await untilHeard(silent, 3)
  upstream.shift?.apply({ shares: { reads: 0.5, writes: 0.5 }, returned: null, revision: 1 })
  await wait(20)
  t.equal(old.seen.length, 0, 'a group with requests is not given up')
  upstream.shift?.apply({ shares: { reads: 0, writes: 0 }, returned: 'errors', revision: 2 })
  for (const response of await Promise.all(reads)) t.match(response, { status: 200, node: old.url })
})

t.test('a read without another node goes on waiting', async (t) => {
  const silent = await startRawNode(t, () => {})
  const { upstream, changed } = watch(t, [silent.url], {
    timeouts: { connectMs: 500, headersMs: 600, bodyMs: 600 },
  })
  const read = upstream.fetch(READ, LIMIT)
  await untilHeard(silent, 1)
  upstream.startProbes(PROBES)
  t.match(await changed(), { reason: 'probe' })
  t.match(await refusalOf(read), { code: 'GW_UPSTREAM_TIMEOUT' })
})

t.test(
  'a read that has waited for a full group in vain goes to the other group, and a write is refused',
  async (t) => {
    const full = await startRawNode(t, () => {})
    const old = await startEngine(t)
    const { upstream } = watch(
      t,
      [
        { url: full.url, group: 'new' },
        { url: old.url, group: 'old' },
      ],
      {
        timeouts: { connectMs: 500, headersMs: 800, bodyMs: 800 },
        shift: SHIFT,
        connections: 1,
        queue: { max: 10, waitMs: 100 },
      },
    )
    const first = refusalOf(upstream.fetch(READ, LIMIT))
    await untilHeard(full, 1)
    const [read, write] = await Promise.all([
      upstream.fetch(READ, LIMIT),
      refusalOf(upstream.fetch(WRITE, LIMIT)),
    ])
    t.match(read, { status: 200, node: old.url })
    t.match(write, { code: 'GW_OVERLOADED' })
    t.match(await first, { code: 'GW_UPSTREAM_TIMEOUT' })
  },
)
