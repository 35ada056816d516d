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

t.test('what is locked for a client that has left is given back, once, as the gateway', async (t) => {
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

t.test('a client that leaves before its poll was sent leaves nothing behind', async (t) => {
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

t.test('one that was sent late ends at its time; what comes then is given back', async (t) => {
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

t.test('a client that asks the same again gets what was locked for it meanwhile', async (t) => {
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

t.test('another worker, or another caller, does not', async (t) => {
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

t.test('whose time is not over when the former poll ends empty is sent itself', async (t) => {
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

t.test('a drain ends all polls with nothing, and still gives back what comes late', async (t) => {
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

t.test('a lock that is over is not given back: another worker may have it', async (t) => {
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

t.test('an abandoned poll takes its place until the engine has answered', async (t) => {
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
