import { type NodeAddress, type NodeEvent, NodePool } from '../../src/proxy/nodes/node-pool.ts'
import type { Node } from '../../src/proxy/nodes/node.ts'

export interface OpenNodes {
  readonly set: NodePool
  readonly node: (index: number) => Node
  readonly events: NodeEvent[]
  readonly clock: { nowMs: number }
}

/** Opens nodes n0, n1, … with the test's own clock. No connection to them is made. */
export function openNodes(options: readonly Omit<NodeAddress, 'url'>[]): OpenNodes {
  const events: NodeEvent[] = []
  const clock = { nowMs: 0 }
  const set = new NodePool({
    nodes: options.map((own, i) => ({ url: `http://n${i}:1/engine-rest/`, ...own })),
    suffix: '/engine/x',
    connections: 2,
    connectMs: 1,
    now: () => clock.nowMs,
    onChange: (event) => events.push(event),
  })
  return { set, node: (index) => nodeOf(set, index), events, clock }
}

function nodeOf({ all }: NodePool, index: number): Node {
  const node = all[index]
  if (node === undefined) throw new Error(`there are ${all.length} nodes`)
  return node
}
