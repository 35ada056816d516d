import type { Node } from './node.ts'

/** Chooses the node of the next attempt: none of `tried`, none that is full; null if no such node is left. */
export type Balance = (tried: readonly Node[]) => Node | null

/** Round robin. */
export function createBalance(nodes: readonly Node[]): Balance {
  let turn = 0
  return function pick(tried) {
    for (let step = 0; step < nodes.length; step += 1) {
      const index = (turn + step) % nodes.length
      const node = nodes[index]
      if (node === undefined || node.inFlight >= node.capacity || tried.includes(node)) continue
      turn = index + 1
      return node
    }
    return null
  }
}
