import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import t from 'tap'
import type { PollRequest } from '../../../src/proxy/long-polls/long-polls.ts'
import { READ, refusalOf, refusingUrl, WRITE } from '../../support/fake-engine.ts'
import { openPolling, poll, startPollingNode } from '../../support/polling.ts'
import { NAMES, reservedUrl } from '../../support/watch-nodes.ts'

const NONE = { status: 200, body: [], node: null }
const FULL = {
  type: 'InvalidRequestException',
  message:
    'At the moment the server has to handle too many requests at the same time. Please try again later.',
  code: null,
}
const STOPPING = {
  type: 'RestException',
  message: 'Request rejected due to shutdown of application server.',
  code: null,
}

function sinkOf(response: EventEmitter): PollRequest['sink'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- polls use only the events of a response
  return response as unknown as PollRequest['sink']
}

t.test('a poll receives the response of the engine', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends } = openPolling(t, [node], {})
  const { answer } = poll(upstream, 'a')
  await node.came(1)
  node.held.shift()?.answer([{ id: 'task' }])
  t.same(await answer, { status: 200, body: [{ id: 'task' }], node: node.url })
  t.same(ends, ['answered'])
  t.same(upstream.polls.counts(), { open: 0, waiting: 0, abandoned: 0 })
})

t.test('no node holds more polls than its limit, and the polls are spread evenly', async (t) => {
  const nodes = [await startPollingNode(t), await startPollingNode(t)]
  const { upstream } = openPolling(t, nodes, { perNode: 3 })
  for (let i = 0; i < 10; i += 1) poll(upstream, `w${i}`).answer.catch(() => {})
  await Promise.all(nodes.map(({ came }) => came(3)))
  await upstream.fetch(READ, 1000)
  t.same(
    nodes.map(({ held }) => held.length),
    [3, 3],
  )
  t.same(upstream.polls.counts(), { open: 6, waiting: 4, abandoned: 0 })
})

t.test('queued polls are sent in the order of their arrival', async (t) => {
  const node = await startPollingNode(t)
  const { upstream } = openPolling(t, [node], { perNode: 1 })
  for (const worker of ['a', 'b', 'c', 'd']) void poll(upstream, worker).answer
  const order: string[] = []
  for (let i = 1; i <= 4; i += 1) {
    await node.came(i)
    const held = node.held.shift()
    order.push(held?.worker ?? '')
    held?.answer([])
  }
  t.same(order, ['a', 'b', 'c', 'd'])
})

t.test('a queued poll ends with an empty list at its timeout and is never sent', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends } = openPolling(t, [node], { perNode: 1 })
  void poll(upstream, 'a').answer
  await node.came(1)
  t.same(await poll(upstream, 'b', 30).answer, NONE)
  t.same(ends, ['time'])
  t.equal(node.held.length, 1)
})

t.test('no client waits longer than the configured limit', async (t) => {
  const node = await startPollingNode(t)
  const { upstream } = openPolling(t, [node], { maxHoldMs: 30 })
  t.same(await poll(upstream, 'a', 60_000).answer, NONE)
})

t.test('polls beyond the queue limit are refused', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends } = openPolling(t, [node], { perNode: 1, waiting: 1 })
  void poll(upstream, 'a').answer
  void poll(upstream, 'b').answer
  t.match(await refusalOf(poll(upstream, 'c').answer), { code: 'GW_OVERLOADED', retryAfterSeconds: 5 })
  t.same(ends, ['overload'])
})

t.test('other requests are served while all nodes are full of polls', async (t) => {
  const node = await startPollingNode(t)
  const { upstream } = openPolling(t, [node], { perNode: 4 })
  for (let i = 0; i < 8; i += 1) void poll(upstream, `w${i}`).answer
  await node.came(4)
  const answers = await Promise.all([1, 2, 3, 4].map(() => upstream.fetch(READ, 1000)))
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  )
})

for (const [what, body] of [
  ['has too many', FULL],
  ['shuts down', STOPPING],
] as const) {
  t.test(`another node receives a poll that the first refuses because it ${what}`, async (t) => {
    const nodes = [await startPollingNode(t), await startPollingNode(t)]
    const { upstream, ends } = openPolling(t, nodes, {})
    const { answer } = poll(upstream, 'a')
    await nodes[0]?.came(1)
    nodes[0]?.held.shift()?.answer(body, 500)
    await nodes[1]?.came(1)
    nodes[1]?.held.shift()?.answer([{ id: 'task' }])
    t.match(await answer, { status: 200, node: nodes[1]?.url })
    t.same(ends, ['answered'])
  })

  t.test(`the client may retry later if every node refuses a poll because it ${what}`, async (t) => {
    const node = await startPollingNode(t)
    const { upstream, ends } = openPolling(t, [node], {})
    const { answer } = poll(upstream, 'a')
    await node.came(1)
    node.held.shift()?.answer(body, 500)
    t.match(await refusalOf(answer), { code: 'GW_OVERLOADED', retryAfterSeconds: 5 })
    t.same(ends, ['failed'])
  })
}

t.test('any other error of the engine is passed to the client', async (t) => {
  const node = await startPollingNode(t)
  const { upstream } = openPolling(t, [node], {})
  const { answer } = poll(upstream, 'a')
  await node.came(1)
  node.held.shift()?.answer({ message: 'null' }, 500)
  t.match(await answer, { status: 500, body: { message: 'null' } })
})

t.test('a poll skips a node that refuses connections', async (t) => {
  const node = await startPollingNode(t)
  const { upstream } = openPolling(t, [{ url: await refusingUrl() }, node], {})
  const { answer } = poll(upstream, 'a')
  await node.came(1)
  node.held.shift()?.answer([{ id: 'task' }])
  t.match(await answer, { status: 200, node: node.url })
})

t.test('a poll waits in the queue if no other node has capacity', async (t) => {
  const node = await startPollingNode(t)
  const { upstream } = openPolling(t, [{ url: await refusingUrl() }, node], { perNode: 1 })
  const both = [poll(upstream, 'a').answer, poll(upstream, 'b').answer]
  for (const count of [1, 2]) {
    await node.came(count)
    node.held.shift()?.answer([{ id: 'task' }])
  }
  t.match(await Promise.all(both), [{ status: 200 }, { status: 200 }])
})

t.test('a poll is refused at once if no node is reachable', async (t) => {
  const { upstream, ends } = openPolling(t, [{ url: await refusingUrl() }, { url: await refusingUrl() }], {})
  const sink = new EventEmitter()
  t.match(await refusalOf(poll(upstream, 'a', 60_000, { sink: sinkOf(sink) }).answer), { code: 'GW_NO_NODE' })
  t.same(ends, ['failed'])
  t.equal(sink.listenerCount('close'), 0, 'nobody listens whether its client leaves')
})

t.test('a poll that a stopping node refuses goes to one that has recovered', async (t) => {
  const back = createServer((_request, response) => response.end('[{"id":"task"}]'))
  const url = await reservedUrl(back)
  const stopping = await startPollingNode(t)
  const { upstream } = openPolling(t, [{ url }, stopping], {})
  await upstream.fetch(WRITE, 1000)
  t.match(upstream.nodes(), [{ reason: 'refused' }, { reason: null }])
  back.listen(Number(new URL(url).port), '127.0.0.1')
  await once(back, 'listening')
  t.teardown(() => back.close())
  const { answer } = poll(upstream, 'w')
  await stopping.came(1)
  stopping.held.shift()?.answer(STOPPING, 500)
  t.match(await answer, { status: 200, body: [{ id: 'task' }], node: url })
})

t.test('a queued poll is sent as soon as a probe finds that a node has recovered', async (t) => {
  const back = createServer(({ url = '' }, response) =>
    response.end(url.endsWith('/engine') ? NAMES : '[{"id":"task"}]'),
  )
  const url = await reservedUrl(back)
  const full = await startPollingNode(t)
  const { upstream } = openPolling(t, [{ url }, full], { perNode: 1 })
  await upstream.fetch(WRITE, 1000)
  void poll(upstream, 'a').answer
  await full.came(1)
  const { answer } = poll(upstream, 'b')
  t.match(upstream.polls.counts(), { open: 1, waiting: 1 })
  back.listen(Number(new URL(url).port), '127.0.0.1')
  await once(back, 'listening')
  t.teardown(() => back.close())
  upstream.startProbes({ intervalMs: 20, timeoutMs: 5000, deployments: false })
  t.match(await answer, { status: 200, body: [{ id: 'task' }], node: url })
})

t.test('a node that has too many polls receives no further polls for a while', async (t) => {
  const [full, other] = [await startPollingNode(t), await startPollingNode(t)]
  const { upstream } = openPolling(t, [full, other], { perNode: 4 })
  void poll(upstream, 'a').answer
  await full.came(1)
  full.held.shift()?.answer(FULL, 500)
  await other.came(1)
  for (const worker of ['b', 'c']) void poll(upstream, worker).answer
  await other.came(3)
  t.same([full.held.length, other.held.length], [0, 3])
})

t.test('a poll that waits for another node is not sent if its client disconnects', async (t) => {
  const [full, stopping] = [await startPollingNode(t), await startPollingNode(t)]
  const { upstream, ends } = openPolling(t, [full, stopping], { perNode: 1 })
  const first = poll(upstream, 'a')
  await full.came(1)
  const second = poll(upstream, 'b')
  await stopping.came(1)
  stopping.held.shift()?.answer(STOPPING, 500)
  while (upstream.polls.counts().waiting === 0) await new Promise(setImmediate)
  second.leave()
  t.same(await second.answer, NONE)
  t.same(upstream.polls.counts(), { open: 1, waiting: 0, abandoned: 0 })
  full.held.shift()?.answer([])
  await first.answer
  await upstream.close()
  t.same([full.held, stopping.held], [[], []])
  t.same(ends, ['left', 'answered'])
})

t.test('a drain ends a poll that waits for another node', async (t) => {
  const [full, stopping] = [await startPollingNode(t), await startPollingNode(t)]
  const { upstream, ends } = openPolling(t, [full, stopping], { perNode: 1 })
  const first = poll(upstream, 'a').answer
  await full.came(1)
  const { answer } = poll(upstream, 'b')
  await stopping.came(1)
  stopping.held.shift()?.answer(STOPPING, 500)
  while (upstream.polls.counts().waiting === 0) await new Promise(setImmediate)
  upstream.polls.drain()
  t.same(await Promise.all([first, answer]), [NONE, NONE])
  t.same([ends, upstream.polls.counts().waiting], [['drain', 'drain'], 0])
})

t.test('tasks that are locked for a client whose connection has just closed are unlocked', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends, unlocks } = openPolling(t, [node], {})
  const sink = Object.assign(new EventEmitter(), { destroyed: false })
  const { answer } = poll(upstream, 'a', 60_000, { sink: sinkOf(sink) })
  await node.came(1)
  sink.destroyed = true
  const lock = { workerId: 'w', lockExpirationTime: '2999-01-31T12:00:00.000+0000' }
  node.held.shift()?.answer([{ id: 'one', ...lock }])
  t.same(await answer, NONE)
  await node.wasAsked(1)
  await upstream.close()
  t.same(node.asked, ['POST /external-task/one/unlock'])
  t.same(ends, ['left'])
  t.same(unlocks, ['unlocked'])
})

t.test('a poll whose client has disconnected is not sent to another node', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends } = openPolling(t, [{ url: await refusingUrl() }, node], {})
  const { leave, answer } = poll(upstream, 'a')
  leave()
  t.same(await answer, NONE)
  await upstream.close()
  t.same(node.held, [])
  t.same(ends, ['left'])
})

t.test('a poll during a drain or of a disconnected client ends at once', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends } = openPolling(t, [node], {})
  const sink = Object.assign(new EventEmitter(), { destroyed: true })
  t.same(await poll(upstream, 'a', 60_000, { sink: sinkOf(sink) }).answer, NONE)
  upstream.polls.drain()
  t.same(await poll(upstream, 'b').answer, NONE)
  t.same(ends, ['left', 'drain'])
  t.same(node.held, [])
})
