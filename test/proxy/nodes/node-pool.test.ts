import t from 'tap'
import { openNodes, type OpenNodes } from '../../support/open-nodes.ts'

const FOUR = [{}, {}, {}, {}]

function usedOf({ set }: OpenNodes): string {
  return set.used.map(({ name }) => name.slice('http://n'.length, 'http://n0'.length)).join('')
}

function makeIll({ node }: OpenNodes, index: number): void {
  for (let i = 0; i < 5; i += 1) node(index).health.failed('reset', 0, 0)
}

t.test('at least half of the nodes are used even if all of them fail', (t) => {
  const nodes = openNodes(FOUR)
  const used = [0, 1, 2, 3].map((index) => {
    makeIll(nodes, index)
    return usedOf(nodes)
  })
  t.same(used, ['123', '23', '30', '01'])
  t.end()
})

t.test('a single node is always used', (t) => {
  const nodes = openNodes([{}])
  makeIll(nodes, 0)
  t.equal(usedOf(nodes), '0')
  nodes.node(0).health.failed('refused', 0, 0)
  t.equal(usedOf(nodes), '0')
  t.end()
})

t.test('unreachable nodes are not used, however many there are', (t) => {
  const nodes = openNodes(FOUR)
  for (const index of [0, 1, 2]) nodes.node(index).health.failed('refused', 0, 0)
  t.equal(usedOf(nodes), '3')
  t.end()
})

t.test('if every node is ejected, all are used until the first recovers, which is then used alone', (t) => {
  const nodes = openNodes(FOUR)
  for (const { health } of nodes.set.all) health.probed('wrong-engine', 0, '')
  t.equal(usedOf(nodes), '0123')
  nodes.node(2).health.probed('ok', 0, '')
  t.equal(usedOf(nodes), '2')
  t.end()
})

t.test('a node with bad responses is preferred to an unreachable one', (t) => {
  const nodes = openNodes([{}, {}])
  makeIll(nodes, 0)
  nodes.node(1).health.failed('refused', 0, 0)
  t.equal(usedOf(nodes), '0')
  t.end()
})

t.test('drained nodes count neither as used nor as healthy', (t) => {
  const nodes = openNodes([{ drain: true }, { drain: true }, {}])
  t.equal(usedOf(nodes), '2')
  nodes.node(2).health.failed('refused', 0, 0)
  t.equal(usedOf(nodes), '2')
  t.match(nodes.events, [{ healthy: 0, nodes: 1 }])
  t.end()
})

t.test('each change is reported, with the number of healthy nodes', (t) => {
  const nodes = openNodes([{}, {}])
  nodes.node(1).health.probed('wrong-engine', 0, 'the node does not have the engine default; it has second')
  nodes.node(1).health.probed('ok', 0, '')
  t.same(nodes.events, [
    {
      node: 'http://n1:1/engine-rest',
      reason: 'wrong-engine',
      detail: 'the node does not have the engine default; it has second',
      periodMs: 1000,
      healthy: 1,
      nodes: 2,
    },
    { node: 'http://n1:1/engine-rest', reason: null, detail: '', periodMs: 0, healthy: 2, nodes: 2 },
  ])
  const idle = {
    group: null,
    registered: new Set(),
    inFlight: 0,
    polls: 3,
    latencyMs: 0,
    certificateEndsAtMs: null,
  }
  t.same(
    nodes.set.states(() => 3),
    [
      {
        node: 'http://n0:1/engine-rest',
        isDrained: false,
        isDrainedByCommand: false,
        reason: null,
        limit: 2,
        ...idle,
        ejections: 0,
      },
      {
        node: 'http://n1:1/engine-rest',
        isDrained: false,
        isDrainedByCommand: false,
        reason: null,
        limit: 2,
        ...idle,
        ejections: 1,
      },
    ],
  )
  t.end()
})

t.test('a node that a command drains is not used until it is returned', (t) => {
  const nodes = openNodes([{}, {}, {}])
  const [, one] = nodes.set.all
  nodes.set.drain(new Set([one?.name ?? '', 'http://unknown:1/engine-rest']))
  t.equal(usedOf(nodes), '02')
  t.same(
    nodes.set.states(() => 3).map(({ isDrained, isDrainedByCommand }) => [isDrained, isDrainedByCommand]),
    [
      [false, false],
      [true, true],
      [false, false],
    ],
  )
  nodes.set.drain(new Set())
  t.equal(usedOf(nodes), '012')
  t.end()
})

t.test('a drained node is not used even if all other nodes fail', (t) => {
  const nodes = openNodes([{}, {}])
  nodes.set.drain(new Set([nodes.node(0).name]))
  nodes.node(1).health.failed('refused', 0, 0)
  t.equal(usedOf(nodes), '1')
  t.same(
    nodes.set.lastResort().map(({ name }) => name),
    [nodes.node(1).name],
  )
  t.match(nodes.events, [{ healthy: 0, nodes: 1 }])
  t.end()
})

t.test('a drained node gets no trial request, also if it is ejected', (t) => {
  const nodes = openNodes([{}, {}, { drain: true }])
  for (const { health } of nodes.set.all) health.failed('refused', 0, 0)
  nodes.set.drain(new Set([nodes.node(0).name]))
  const trial = (nowMs: number) =>
    nodes.set.trial(
      () => true,
      () => nowMs,
    )
  t.equal(trial(60_000), nodes.node(1))
  t.equal(trial(60_000), null)
  t.end()
})

t.test('without a node that is not drained, requests do not wait', (t) => {
  const nodes = openNodes([{}, { drain: true }])
  t.equal(nodes.set.isUnreachable, false)
  nodes.set.drain(new Set([nodes.node(0).name]))
  t.equal(nodes.set.isUnreachable, true)
  t.equal(usedOf(nodes), '')
  t.end()
})

t.test('a command does not return a node that the configuration drains', (t) => {
  const nodes = openNodes([{ drain: true }, {}])
  nodes.set.drain(new Set([nodes.node(0).name]))
  nodes.set.drain(new Set())
  t.equal(usedOf(nodes), '1')
  t.match(
    nodes.set.states(() => 3),
    [{ isDrained: true, isDrainedByCommand: false }, { isDrained: false }],
  )
  t.end()
})

t.test('a returned node begins with a tenth of its share, and the others keep theirs', (t) => {
  const nodes = openNodes([{}, {}])
  nodes.clock.nowMs = 100_000
  nodes.set.drain(new Set([nodes.node(0).name]))
  nodes.set.drain(new Set())
  t.equal(nodes.node(0).health.shareAt(100_000), 0.1)
  t.equal(nodes.node(1).health.shareAt(100_000), 1)
  t.equal(nodes.node(0).health.shareAt(110_000), 1)
  t.end()
})

t.test('a drained node that is ejected is not used when it is returned, and not before it recovers', (t) => {
  const nodes = openNodes([{}, {}])
  nodes.set.drain(new Set([nodes.node(0).name]))
  nodes.node(0).health.failed('refused', 0, 0)
  t.equal(usedOf(nodes), '1')
  nodes.set.drain(new Set())
  t.equal(usedOf(nodes), '1')
  nodes.node(0).health.probed('ok', 0, '')
  t.equal(usedOf(nodes), '01')
  t.end()
})

t.test('nodes of a refused group are not used, not even if no other node is left', (t) => {
  const nodes = openNodes([{ group: 'old' }, { group: 'new' }, { group: 'new' }])
  nodes.set.refuseGroup('new')
  t.equal(usedOf(nodes), '0')
  nodes.node(0).health.failed('refused', 0, 0)
  t.equal(usedOf(nodes), '0')
  t.same(
    nodes.set.states(() => 3).map(({ isDrained, isDrainedByCommand }) => [isDrained, isDrainedByCommand]),
    [
      [false, false],
      [true, false],
      [true, false],
    ],
  )
  nodes.set.refuseGroup(null)
  t.equal(usedOf(nodes), '12')
  t.end()
})

t.test('a drained node of a refused group is used again when both are over', (t) => {
  const nodes = openNodes([{ group: 'old' }, { group: 'new' }])
  nodes.set.refuseGroup('new')
  nodes.set.drain(new Set([nodes.node(1).name]))
  nodes.set.refuseGroup(null)
  t.equal(usedOf(nodes), '0')
  nodes.set.drain(new Set())
  t.equal(usedOf(nodes), '01')
  t.end()
})
