import t from 'tap'
import { LongPollPools } from '../../../src/proxy/long-polls/long-poll-pools.ts'
import type { Node } from '../../../src/proxy/nodes/node.ts'
import { openNodes, type OpenNodes } from '../../support/open-nodes.ts'

const PERIOD_MS = 1000
const PER_NODE = 2

interface Opened extends OpenNodes {
  readonly pools: LongPollPools
  /** The nodes that polls use, one for each node of the pool. */
  readonly polling: readonly [Node, Node]
  /** Returns the index of the node that takes the next poll, or null if no node does. */
  readonly next: (tried?: readonly Node[]) => number | null
}

function open(): Opened {
  const nodes = openNodes([{}, {}])
  const pools = new LongPollPools(nodes.set, PER_NODE, () => nodes.clock.nowMs)
  const first = pools.pick([])
  const second = first && pools.pick([first])
  if (first === null || second === null) throw new Error('no node is free')
  const next = (tried: readonly Node[] = []) => {
    const chosen = pools.pick(tried)
    return chosen === null ? null : [first, second].indexOf(chosen)
  }
  return { ...nodes, pools, polling: [first, second], next }
}

/** Opens two nodes. The first is ejected until its period has ended. */
function openEjected(): Opened {
  const opened = open()
  opened.node(0).health.failed('refused', opened.clock.nowMs, opened.clock.nowMs)
  return opened
}

t.test('the node with the fewest polls takes the next poll', (t) => {
  const { polling, next } = open()
  const take = () => {
    const at = next()
    const taking = at === 0 ? polling[0] : polling[1]
    taking.inFlight += 1
    return at
  }
  t.same([take(), take(), take(), take(), take()], [0, 1, 0, 1, null])
  t.end()
})

t.test('a poll is the trial of a node whose ejection has ended, once per period', (t) => {
  const { clock, next } = openEjected()
  t.equal(next(), 1)
  clock.nowMs += PERIOD_MS
  t.same([next(), next()], [0, 1])
  clock.nowMs += PERIOD_MS
  t.equal(next(), 0)
  t.end()
})

t.test('a node that is full or already tried does not use up its trial', (t) => {
  const { clock, polling, next } = openEjected()
  clock.nowMs += PERIOD_MS
  const [first] = polling
  t.equal(next([first]), 1)
  first.inFlight = PER_NODE
  t.equal(next(), 1)
  first.inFlight = PER_NODE - 1
  t.equal(next(), 0)
  t.end()
})

t.test('an ejected node takes only polls that every other node has refused', (t) => {
  const { polling, next, pools } = openEjected()
  const [, second] = polling
  t.equal(next([second]), 0)
  t.equal(pools.hasOther([second]), true)
  t.equal(pools.hasOther(polling), false)
  second.inFlight = PER_NODE
  t.equal(next(), null)
  t.end()
})

t.test('a node that refuses further polls receives none for a second', (t) => {
  const { clock, polling, next, pools } = open()
  const [first, second] = polling
  second.inFlight = 1
  pools.coolDown(first)
  t.equal(next(), 1)
  clock.nowMs += PERIOD_MS - 1
  t.equal(next(), 1)
  clock.nowMs += 1
  t.equal(next(), 0)
  t.end()
})

t.test('the nodes of a group are preferred, and others are used if they are full', (t) => {
  const nodes = openNodes([{ group: 'old' }, { group: 'new' }])
  const pools = new LongPollPools(nodes.set, 1, () => 0)
  const chosen = pools.pick([], 'new')
  t.equal(chosen?.group, 'new')
  t.equal(pools.pick([], 'old')?.group, 'old')
  if (chosen !== null) chosen.inFlight = 1
  t.equal(pools.pick([], 'new')?.group, 'old')
  t.end()
})
