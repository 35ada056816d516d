import t from 'tap'
import { BALANCING_POLICIES } from '../../../src/proxy/nodes/balancing-policies.ts'
import { openNodes } from '../../support/open-nodes.ts'

/** Returns the numbers of the nodes that the next requests get. `without` does not qualify. */
function turnsOf(nodes: ReturnType<typeof openNodes>) {
  const choose = BALANCING_POLICIES['round-robin']({ now: () => nodes.clock.nowMs, random: () => 0 })
  return (count: number, without = -1): string =>
    Array.from({ length: count }, () => {
      const chosen = choose(nodes.set.all.filter((_, at) => at !== without))
      return nodes.set.all.findIndex((node) => node === chosen)
    }).join('')
}

t.test('round robin uses the nodes in turn, regardless of their load', (t) => {
  const nodes = openNodes([{}, {}, {}])
  nodes.node(0).inFlight = 1
  nodes.node(1).latency.seed(500, 0)
  t.equal(turnsOf(nodes)(7), '0120120')
  t.end()
})

t.test('round robin uses a node as often as its weight says, and spreads its turns', (t) => {
  const turns = turnsOf(openNodes([{ weight: 2 }, {}, {}]))
  t.equal(turns(8), '01200120')
  t.end()
})

t.test('a node that does not qualify loses its turns, and gets no more later', (t) => {
  const turns = turnsOf(openNodes([{}, {}, {}]))
  t.equal(turns(4, 1), '0202')
  t.equal(turns(6).match(/1/g)?.length, 2)
  t.end()
})

t.test('a recovered node gets a tenth of its turns at first', (t) => {
  const nodes = openNodes([{}, {}])
  nodes.node(0).health.failed('refused', 0, 0)
  nodes.node(0).health.probed('ok', 0, '')
  t.equal(turnsOf(nodes)(22).match(/0/g)?.length, 2)
  t.end()
})

t.test('no node is chosen if none qualifies', (t) => {
  const options = { now: () => 0, random: () => 0 }
  for (const create of Object.values(BALANCING_POLICIES)) t.equal(create(options)([]), null)
  t.end()
})
