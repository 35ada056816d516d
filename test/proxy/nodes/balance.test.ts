import t from 'tap'
import { type Balance, createBalance } from '../../../src/proxy/nodes/balance.ts'
import { openNodes, type OpenNodes } from '../../support/open-nodes.ts'

const EQUAL = [{}, {}]
const SECOND_MS = 1000

/** Creates a balance that chooses the first of equal nodes by default. */
function balanceOf({ set, clock }: OpenNodes, random = () => 0): Balance {
  return createBalance(set, { policy: 'least-load', hasPlace: () => true, now: () => clock.nowMs, random })
}

/** Returns how many of 1000 requests each node receives if no request ends. */
function sharesOf(nodes: OpenNodes): number[] {
  // Each node has capacity for all of them, and every pair of nodes is drawn equally often.
  let turn = 0
  const pick = balanceOf(nodes, () => ((turn += 1) * 0.618) % 1)
  const shares = nodes.set.all.map(() => 0)
  for (let i = 0; i < 1000; i += 1) {
    const chosen = pick(nodes.set.all.filter((node) => node.isDrained))
    const index = nodes.set.all.findIndex((node) => node === chosen)
    shares[index] = (shares[index] ?? 0) + 1
  }
  return shares
}

t.test('the node with fewer requests in flight is chosen', (t) => {
  const nodes = openNodes(EQUAL)
  const pick = balanceOf(nodes)
  nodes.node(0).inFlight = 1
  t.equal(pick([]), nodes.node(1))
  nodes.node(1).inFlight = 2
  t.equal(pick([]), nodes.node(0))
  t.end()
})

t.test('the faster node is chosen until its queue is longer', (t) => {
  const nodes = openNodes(EQUAL)
  const pick = balanceOf(nodes)
  nodes.node(0).latency.seed(50, 0)
  nodes.node(1).latency.seed(20, 0)
  t.equal(pick([]), nodes.node(1))
  nodes.node(1).inFlight = 2
  t.equal(pick([]), nodes.node(0))
  t.end()
})

t.test('latencies below one millisecond count as equal', (t) => {
  const nodes = openNodes(EQUAL)
  nodes.node(0).latency.seed(0.9, 0)
  nodes.node(1).latency.seed(0.1, 0)
  t.equal(balanceOf(nodes)([]), nodes.node(0))
  t.end()
})

t.test('a node of twice the weight receives twice as many requests in flight', (t) => {
  const nodes = openNodes([{ weight: 1 }, { weight: 2 }])
  const pick = balanceOf(nodes)
  nodes.node(0).inFlight = 0
  nodes.node(1).inFlight = 1
  t.equal(pick([]), nodes.node(0), 'one each a part')
  nodes.node(0).inFlight = 1
  t.equal(pick([]), nodes.node(1), 'one beside three halves')
  t.end()
})

t.test('every node is drawn, and the most loaded one is never chosen', (t) => {
  const nodes = openNodes([{}, {}, {}])
  nodes.node(1).inFlight = 1
  const shares = sharesOf(nodes)
  t.equal(shares[1], 0)
  t.ok((shares[0] ?? 0) > 300 && (shares[2] ?? 0) > 300, shares.join(', '))
  t.end()
})

t.test('a request that failed on another node may use the places that are kept from slow operations', (t) => {
  const { set, clock, node } = openNodes([{}, {}])
  const pick = createBalance(set, {
    policy: 'least-load',
    hasPlace: () => false,
    now: () => clock.nowMs,
    random: () => 0,
  })
  t.equal(pick([], { operation: 'report' }), null)
  t.equal(pick([node(0)], { operation: 'report' }), node(1))
  t.end()
})

t.test('a node that was tried or is full is skipped', (t) => {
  const nodes = openNodes([{}, {}, {}])
  const [a, b, c] = [nodes.node(0), nodes.node(1), nodes.node(2)]
  const pick = balanceOf(nodes)
  b.inFlight = b.capacity
  c.inFlight = c.capacity
  t.equal(pick([]), a)
  a.inFlight = a.capacity
  t.equal(pick([]), null)
  c.inFlight -= 1
  t.equal(pick([]), c)
  t.equal(pick([a, b, c]), null)
  t.end()
})

t.test('a retry may use a full node up to its ceiling', (t) => {
  const nodes = openNodes([{}, {}])
  const [a, b] = [nodes.node(0), nodes.node(1)]
  const pick = balanceOf(nodes)
  b.inFlight = b.capacity
  t.equal(pick([a]), b)
  b.inFlight = b.ceiling
  t.equal(pick([a]), null)
  t.end()
})

t.test('a drained node is not chosen even if no other node remains', (t) => {
  const nodes = openNodes([{}, { drain: true }])
  const pick = balanceOf(nodes)
  t.same(sharesOf(nodes), [1000, 0])
  t.equal(pick([nodes.node(0)]), null)
  nodes.node(0).health.failed('refused', 0, 0)
  t.equal(pick([]), nodes.node(0), 'alone and ill, it is used')
  t.equal(balanceOf(openNodes([{ drain: true }]))([]), null)
  t.end()
})

t.test('a recovered node receives a tenth of its share, and all of it after ten seconds', (t) => {
  const nodes = openNodes(EQUAL)
  const [back, other] = [nodes.node(0), nodes.node(1)]
  back.health.failed('refused', 0, 0)
  back.health.probed('ok', 0, '')
  const pick = balanceOf(nodes)
  /** Returns how many requests the other node takes before the recovered node receives its first. */
  const takenAt = (nowMs: number): number => {
    nodes.clock.nowMs = nowMs
    other.inFlight = 0
    while (pick([]) === other) other.inFlight += 1
    return other.inFlight
  }
  t.same([0, 5 * SECOND_MS, 10 * SECOND_MS].map(takenAt), [other.capacity, 1, 0])
  t.end()
})

t.test('a recovered node starts with the latency of the other nodes', (t) => {
  const nodes = openNodes(EQUAL)
  nodes.node(0).latency.seed(5000, 0)
  nodes.node(1).latency.seed(40, 0)
  nodes.node(0).health.failed('refused', 0, 0)
  nodes.node(0).health.probed('ok', 0, '')
  t.equal(nodes.node(0).latency.readMs(0), 40)
  t.end()
})

t.test('an ejected node is chosen after all others were tried, and a node of another engine never', (t) => {
  const nodes = openNodes([{}, {}, {}])
  const pick = balanceOf(nodes)
  nodes.node(1).health.failed('refused', 0, 0)
  nodes.node(2).health.probed('wrong-engine', 0, '')
  t.equal(pick([]), nodes.node(0))
  t.equal(pick([nodes.node(0)]), nodes.node(1))
  t.equal(pick([nodes.node(0), nodes.node(1)]), null)
  nodes.node(0).inFlight = nodes.node(0).capacity
  t.equal(pick([]), null, 'too much to do is no reason to ask an ejected one')
  t.end()
})

t.test('without probes, one request per period is the trial of an ejected node', (t) => {
  const nodes = openNodes(EQUAL)
  const pick = balanceOf(nodes)
  nodes.node(0).health.failed('refused', 0, 0)
  t.equal(pick([]), nodes.node(1))
  nodes.clock.nowMs = 1000
  t.equal(pick([]), nodes.node(0))
  t.equal(pick([]), nodes.node(1))
  nodes.clock.nowMs = 2000
  t.equal(pick([]), nodes.node(0))
  nodes.set.isProbed = true
  nodes.clock.nowMs = 3000
  t.equal(pick([]), nodes.node(1), 'with one, no request is risked')
  t.end()
})

t.test('a node has an origin, a base path with the engine name, a probe path and its load', (t) => {
  t.match(openNodes([{}]).node(0), {
    origin: 'http://n0:1',
    prefix: '/engine-rest/engine/x',
    probePath: '/engine-rest/engine',
    capacity: 2,
    inFlight: 0,
  })
  t.end()
})

t.test('a request for a group goes to its nodes as long as one of them is used', (t) => {
  const nodes = openNodes([{ group: 'old' }, { group: 'new' }, { group: 'new' }])
  const pick = balanceOf(nodes)
  t.equal(pick([], { group: 'old' }), nodes.node(0))
  t.equal(pick([], { group: 'new' }), nodes.node(1))
  nodes.node(1).inFlight = nodes.node(1).capacity
  t.equal(pick([], { group: 'new' }), nodes.node(2))
  nodes.node(2).inFlight = nodes.node(2).capacity
  t.equal(pick([], { group: 'new' }), null, 'it waits for its group')
  t.equal(pick([]), nodes.node(0), 'a request of no group may use all nodes')
  t.end()
})

t.test('a request for a group whose nodes are all ejected goes to another group', (t) => {
  const nodes = openNodes([{ group: 'old' }, { group: 'new' }])
  nodes.node(1).health.failed('refused', 0, 0)
  t.equal(balanceOf(nodes)([], { group: 'new' }), nodes.node(0))
  t.end()
})

t.test('a request for a deployment stays in its group', (t) => {
  const nodes = openNodes([{ group: 'old' }, { group: 'new' }])
  nodes.node(0).registered = new Set(['one'])
  t.equal(balanceOf(nodes)([], { group: 'new', deployment: 'one' }), nodes.node(1))
  t.equal(balanceOf(nodes)([], { group: 'old', deployment: 'one' }), nodes.node(0))
  t.end()
})
