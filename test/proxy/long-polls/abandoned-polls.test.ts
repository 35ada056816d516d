import t from 'tap'
import { READ } from '../../support/fake-engine.ts'
import { openPolling, poll, startPollingNode } from '../../support/polling.ts'

const NONE = { status: 200, body: [], node: null }
const LOCK = { workerId: 'w', lockExpirationTime: '2999-01-31T12:00:00.000+0000' }
const TASKS = [
  { id: 'one', ...LOCK },
  { id: 'two', ...LOCK },
]
const UNLOCKS = ['POST /external-task/one/unlock', 'POST /external-task/two/unlock']

t.test('tasks that are locked for a disconnected client are unlocked once, by the gateway', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends, unlocks } = openPolling(t, [node], {})
  const { leave, answer } = poll(upstream, 'a')
  await node.came(1)
  leave()
  await answer
  t.same(upstream.polls.counts(), { open: 0, waiting: 0, abandoned: 1 })
  node.held.shift()?.answer(TASKS)
  await node.wasAsked(2)
  await upstream.close()
  t.same([...node.asked].sort(), UNLOCKS)
  t.same(unlocks, ['unlocked', 'unlocked'])
  t.same(ends, ['left'])
})

t.test('no poll is sent for a client that disconnects while its poll is queued', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends } = openPolling(t, [node], { perNode: 1 })
  void poll(upstream, 'a').answer
  const { leave, answer } = poll(upstream, 'b')
  leave()
  await answer
  await node.came(1)
  node.held.shift()?.answer([])
  await upstream.fetch(READ, 1000)
  t.same(ends, ['left', 'answered'])
  t.equal(node.held.length, 0)
})

t.test('a poll that was sent late ends at its own timeout, and later tasks are unlocked', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends, unlocks } = openPolling(t, [node], { perNode: 1 })
  void poll(upstream, 'a').answer
  await node.came(1)
  const { answer } = poll(upstream, 'b', 60)
  node.held.shift()?.answer([])
  await node.came(2)
  t.same(await answer, NONE)
  node.held.shift()?.answer(TASKS)
  await node.wasAsked(2)
  await upstream.close()
  t.same(ends, ['answered', 'time'])
  t.same(unlocks, ['unlocked', 'unlocked'])
})

t.test('a client that repeats its poll receives tasks that were locked for its previous poll', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, unlocks } = openPolling(t, [node], { maxHoldMs: 50 })
  await poll(upstream, 'a').answer
  const again = poll(upstream, 'a').answer
  t.same(upstream.polls.counts(), { open: 1, waiting: 0, abandoned: 0 })
  node.held.shift()?.answer(TASKS)
  t.match(await again, { body: TASKS, node: node.url })
  t.same(unlocks, [])
  t.equal(node.held.length, 0)
})

t.test('another worker or another caller does not take over an abandoned poll', async (t) => {
  const node = await startPollingNode(t)
  const { upstream } = openPolling(t, [node], { perNode: 3 })
  const first = poll(upstream, 'a')
  await node.came(1)
  first.leave()
  void poll(upstream, 'b').answer
  void poll(upstream, 'a', 60_000, { caller: 'john' }).answer
  await node.came(3)
  t.same(upstream.polls.counts(), { open: 2, waiting: 0, abandoned: 1 })
})

t.test('a repeated poll is sent to the engine if the previous poll ends without tasks', async (t) => {
  const node = await startPollingNode(t)
  const { upstream } = openPolling(t, [node], {})
  const first = poll(upstream, 'a')
  await node.came(1)
  first.leave()
  const again = poll(upstream, 'a').answer
  node.held.shift()?.answer([])
  await node.came(2)
  node.held.shift()?.answer(TASKS)
  t.match(await again, { body: TASKS })
})

t.test('a drain ends all polls with an empty list, and later tasks are unlocked', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends, unlocks } = openPolling(t, [node], { perNode: 1 })
  const open = poll(upstream, 'a').answer
  const waiting = poll(upstream, 'b').answer
  await node.came(1)
  upstream.polls.drain()
  t.same(await Promise.all([open, waiting, poll(upstream, 'c').answer]), [NONE, NONE, NONE])
  const closed = upstream.close()
  node.held.shift()?.answer(TASKS)
  await closed
  t.same([...node.asked].sort(), UNLOCKS)
  t.same(unlocks, ['unlocked', 'unlocked'])
  t.same([...ends].sort(), ['drain', 'drain', 'drain'])
})

t.test('a task whose lock has expired is not unlocked because another worker may have it', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, unlocks } = openPolling(t, [node], {})
  const { leave } = poll(upstream, 'a')
  await node.came(1)
  leave()
  node.held.shift()?.answer([{ id: 'one', lockExpirationTime: '2020-01-01T00:00:00.000+0000' }])
  await upstream.close()
  t.same(unlocks, ['dropped'])
  t.same(node.asked, [])
})

t.test('an abandoned poll counts against the limit of its node until the engine responds', async (t) => {
  const node = await startPollingNode(t)
  const { upstream } = openPolling(t, [node], { perNode: 1 })
  const { leave } = poll(upstream, 'a')
  await node.came(1)
  leave()
  void poll(upstream, 'b').answer
  t.same(upstream.polls.counts(), { open: 0, waiting: 1, abandoned: 1 })
  node.held.shift()?.answer([])
  await node.came(2)
  t.equal(node.held[0]?.worker, 'b')
})

t.test(
  'polls at a drained node continue at another node, and later tasks of the drained node are unlocked',
  async (t) => {
    const [node, other] = [await startPollingNode(t), await startPollingNode(t)]
    const { upstream, ends, unlocks } = openPolling(t, [node, other], { perNode: 2 })
    const polls = ['a', 'b', 'c', 'd'].map((worker) => poll(upstream, worker).answer)
    await Promise.all([node.came(2), other.came(2)])
    upstream.drain(new Set([node.url]))
    t.same(upstream.polls.counts(), { open: 2, waiting: 2, abandoned: 2 })
    const heldAt = (url: string) => upstream.nodes().find(({ node: name }) => name === url)?.polls
    t.same(
      [heldAt(node.url), heldAt(other.url)],
      [2, 2],
      'the drained node holds polls as long as it may lock tasks',
    )
    other.held.shift()?.answer([])
    other.held.shift()?.answer([])
    await other.came(4)
    node.held.shift()?.answer(TASKS)
    node.held.shift()?.answer([])
    await other.wasAsked(2)
    t.equal(heldAt(node.url), 0)
    for (const held of other.held.splice(0)) held.answer([{ id: 'moved' }])
    const answers = await Promise.all(polls)
    t.equal(answers.filter(({ node: from }) => from === other.url).length, 4)
    await upstream.close()
    t.same([...other.asked].sort(), UNLOCKS)
    t.same(unlocks, ['unlocked', 'unlocked'])
    t.same(ends, ['answered', 'answered', 'answered', 'answered'])
  },
)

t.test('a repeated poll is not attached to the previous poll at a drained node', async (t) => {
  const [node, other] = [await startPollingNode(t), await startPollingNode(t)]
  const { upstream } = openPolling(t, [node, other], { perNode: 4 })
  upstream.drain(new Set([other.url]))
  const first = poll(upstream, 'a')
  await node.came(1)
  first.leave()
  await first.answer
  upstream.drain(new Set([node.url]))
  const again = poll(upstream, 'a').answer
  await other.came(1)
  other.held.shift()?.answer([{ id: 'task' }])
  t.match(await again, { node: other.url })
  node.held.shift()?.answer([])
  await upstream.close()
})

t.test('without another node, polls of a drained node end with an empty list', async (t) => {
  const node = await startPollingNode(t)
  const { upstream, ends } = openPolling(t, [node], { perNode: 1 })
  const polls = [poll(upstream, 'a').answer, poll(upstream, 'b').answer]
  await node.came(1)
  upstream.drain(new Set([node.url]))
  t.same(await Promise.all(polls), [NONE, NONE])
  await t.rejects(poll(upstream, 'c').answer, { code: 'GW_NO_NODE' })
  t.same(ends, ['drain', 'drain', 'failed'])
  node.held.shift()?.answer([])
  await upstream.close()
})
