import t, { type Test } from 'tap'
import type { NudgeSettings } from '../../../src/proxy/long-polls/create-nudges.ts'
import type { Upstream } from '../../../src/proxy/upstream.ts'
import { createOwnTurns } from '../../../src/redis/shared-turns.ts'
import { READ, WRITE } from '../../support/fake-engine.ts'
import { createFakeTime, type FakeTime } from '../../support/fake-time.ts'
import { openPolling, poll, type PollingNode, startPollingNode } from '../../support/polling.ts'

const NUDGE_WORKER = 'engine-gateway-nudge'

interface Nudging {
  readonly time: FakeTime
  readonly upstream: Upstream
  readonly results: string[]
  readonly announced: string[]
  /** Sends a write to this node only. */
  readonly writeTo: (node: { readonly url: string }) => Promise<unknown>
}

function openNudging(t: Test, nodes: readonly (Pick<PollingNode, 'url'> & Partial<PollingNode>)[]): Nudging {
  const time = createFakeTime()
  const results: string[] = []
  const announced: string[] = []
  const nudges: NudgeSettings = {
    everyMs: 750,
    turns: createOwnTurns(time.now),
    announce: (node) => announced.push(node),
    onNudge: (result) => results.push(result),
    schedule: time.schedule,
  }
  const { upstream } = openPolling(t, nodes, { nudges })
  const writeTo: Nudging['writeTo'] = ({ url }) => upstream.fetch({ ...WRITE, preferredNode: url }, 1000)
  return { time, upstream, results, announced, writeTo }
}

async function startNodes(t: Test, count: number): Promise<[PollingNode, PollingNode, ...PollingNode[]]> {
  const [first, second] = [await startPollingNode(t), await startPollingNode(t)]
  const others: PollingNode[] = []
  while (others.length < count - 2) others.push(await startPollingNode(t))
  return [first, second, ...others]
}

/** Waits until requests that the clock has started have reached the nodes. */
async function settle({ upstream }: Nudging): Promise<void> {
  for (let i = 0; i < 3; i += 1) await upstream.fetch(READ, 1000)
}

function nudgesAt({ held }: PollingNode): number {
  return held.filter(({ worker }) => worker === NUDGE_WORKER).length
}

t.test('a write at one node makes the other node, which holds a poll, check its polls', async (t) => {
  const nodes = await startNodes(t, 2)
  const nudging = openNudging(t, nodes)
  const [holder, writer] = nodes
  const { answer } = poll(nudging.upstream, 'worker')
  await holder.came(1)
  await nudging.writeTo(writer)
  nudging.time.advance(1)
  await holder.came(2)
  t.same(
    holder.held.map(({ worker }) => worker),
    ['worker', NUDGE_WORKER],
  )
  t.equal(nudgesAt(writer), 0)
  t.same(nudging.announced, [writer.url])
  holder.held.pop()?.answer([])
  holder.held.pop()?.answer([{ id: 'task' }])
  t.match(await answer, { status: 200, body: [{ id: 'task' }], node: holder.url })
})

t.test(
  'a nudge fetches a unique topic for one millisecond, with the credentials of the gateway',
  async (t) => {
    const nodes = await startNodes(t, 2)
    const nudging = openNudging(t, nodes)
    const [holder, writer] = nodes
    void poll(nudging.upstream, 'worker').answer
    await holder.came(1)
    await nudging.writeTo(writer)
    nudging.time.advance(1)
    await holder.came(2)
    const request = holder.held[1]?.request
    t.match(JSON.parse(request?.body.toString() ?? 'null'), {
      workerId: NUDGE_WORKER,
      maxTasks: 1,
      asyncResponseTimeout: 1,
      topics: [{ topicName: /^engine-gateway-nudge-[\da-f-]{36}$/, lockDuration: 1000 }],
    })
    t.equal(request?.headers.authorization, `Basic ${Buffer.from('gateway:secret').toString('base64')}`)
  },
)

t.test('a read, a refused write, a write at the same node and a fetch of tasks nudge no node', async (t) => {
  const nodes = await startNodes(t, 2)
  const nudging = openNudging(t, nodes)
  const [holder, writer] = nodes
  void poll(nudging.upstream, 'worker').answer
  await holder.came(1)
  await nudging.upstream.fetch({ ...READ, preferredNode: writer.url }, 1000)
  await nudging.upstream.fetch({ ...WRITE, path: '/fails', preferredNode: writer.url }, 1000)
  await nudging.writeTo(holder)
  await nudging.upstream.fetch({ ...WRITE, preferredNode: writer.url, newTasks: 'none' }, 1000)
  nudging.time.advance(100)
  await settle(nudging)
  t.equal(nudgesAt(holder) + nudgesAt(writer), 0)
  t.same(nudging.announced, [holder.url], 'a node has checked its polls for tasks of its own')
})

t.test('no nudge is sent while no client has a poll, and none to a node without polls', async (t) => {
  const nodes = await startNodes(t, 3)
  const nudging = openNudging(t, nodes)
  const [holder, writer, third] = nodes
  await nudging.writeTo(writer)
  nudging.time.advance(2000)
  await settle(nudging)
  t.equal(
    nodes.reduce((sum, node) => sum + node.held.length, 0),
    0,
  )
  const { leave } = poll(nudging.upstream, 'worker')
  await holder.came(1)
  await nudging.writeTo(writer)
  nudging.time.advance(60)
  await holder.came(2)
  holder.held.pop()?.answer([])
  t.equal(third?.held.length, 0)
  leave()
  await settle(nudging)
  await nudging.writeTo(writer)
  nudging.time.advance(5000)
  await settle(nudging)
  t.equal(nudgesAt(holder), 0, 'the poll at the node has no client')
})

t.test('the only node of an engine is never nudged', async (t) => {
  const node = await startPollingNode(t)
  const nudging = openNudging(t, [node])
  void poll(nudging.upstream, 'worker').answer
  await node.came(1)
  await nudging.writeTo(node)
  nudging.time.advance(5000)
  await settle(nudging)
  t.equal(nudgesAt(node), 0)
  t.same(nudging.announced, [])
})

t.test('without writes a node that holds a poll is nudged at intervals until a drain', async (t) => {
  const nodes = await startNodes(t, 2)
  const nudging = openNudging(t, nodes)
  const [holder] = nodes
  void poll(nudging.upstream, 'worker').answer
  await holder.came(1)
  for (let round = 2; round <= 4; round += 1) {
    nudging.time.advance(750)
    await holder.came(round)
    holder.held.pop()?.answer([])
    while (nudging.results.length < round - 1) await settle(nudging)
    await settle(nudging)
  }
  t.same(nudging.results, ['ok', 'ok', 'ok'])
  nudging.upstream.polls.drain()
  nudging.time.advance(5000)
  await settle(nudging)
  t.equal(nudgesAt(holder), 0)
})

t.test(
  'a write through another gateway nudges the nodes like a local write, and is not announced again',
  async (t) => {
    const nodes = await startNodes(t, 2)
    const nudging = openNudging(t, nodes)
    const [holder, writer] = nodes
    void poll(nudging.upstream, 'worker').answer
    await holder.came(1)
    nudging.upstream.writtenElsewhere(writer.url)
    nudging.time.advance(1)
    await holder.came(2)
    t.equal(nudgesAt(holder), 1)
    t.same(nudging.announced, [])
  },
)

t.test('a nudge that a node refuses is not sent to another node', async (t) => {
  const nodes = await startNodes(t, 3)
  const nudging = openNudging(t, nodes)
  const [holder, writer, third] = nodes
  void poll(nudging.upstream, 'worker').answer
  await holder.came(1)
  await nudging.writeTo(writer)
  nudging.time.advance(1)
  await holder.came(2)
  holder.held.pop()?.answer({ message: 'unauthorized' }, 401)
  while (nudging.results.length === 0) await settle(nudging)
  await settle(nudging)
  t.same(nudging.results, ['failed'])
  t.equal(
    holder.held.length + writer.held.length + (third?.held.length ?? 0),
    1,
    'the poll of the worker alone',
  )
})
