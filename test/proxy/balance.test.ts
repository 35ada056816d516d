import t from 'tap'
import { createBalance } from '../../src/proxy/balance.ts'
import { createNode, type Node } from '../../src/proxy/node.ts'

function nodesOf(count: number): Node[] {
  return Array.from({ length: count }, (_, i) =>
    createNode({
      url: `http://n${i}:1/engine-rest/`,
      suffix: '/engine/x',
      connections: 2,
      waiting: 1,
      connectMs: 1,
    }),
  )
}

t.test('every node has its turn', (t) => {
  const nodes = nodesOf(3)
  const pick = createBalance(nodes)
  t.same(
    [1, 2, 3, 4].map(() => pick([])?.name),
    [
      'http://n0:1/engine-rest',
      'http://n1:1/engine-rest',
      'http://n2:1/engine-rest',
      'http://n0:1/engine-rest',
    ],
  )
  t.end()
})

t.test('a tried node and a full node are passed over', (t) => {
  const [a, b, c] = nodesOf(3)
  if (a === undefined || b === undefined || c === undefined) throw new Error('three nodes')
  const pick = createBalance([a, b, c])
  b.inFlight = b.capacity
  t.equal(pick([a]), c)
  t.equal(pick([a, c]), null)
  b.inFlight -= 1
  t.equal(pick([a, c]), b)
  t.equal(pick([a, b, c]), null)
  t.end()
})

t.test('a node knows its base path, the engine behind it and what it holds', (t) => {
  const [node] = nodesOf(1)
  t.match(node, { origin: 'http://n0:1', prefix: '/engine-rest/engine/x', capacity: 3, inFlight: 0 })
  t.end()
})
