import { isZero, type Shift } from '../nodes/shift.ts'
import type { Node } from '../nodes/node.ts'

/** How soon reads that could not be moved are tried again: the retry budget allowed no more, or no other node was free. */
const AGAIN_MS = 1000

/** Returns true if no response of the node is expected: it is ejected, or its group gets no requests any more. */
function isGivenUp({ health, group }: Node, shift: Shift | null): boolean {
  return health.reason !== null || (shift !== null && group === shift.to && isZero(shift.shares))
}

/**
 * Creates a function that sends the reads that wait for a node to other nodes, if the node is given up. Without it, they would wait
 * until their time is over.
 */
export function createReadMover(shift: Shift | null): (node: Node) => void {
  const planned = new Set<Node>()
  return function moveReads(node) {
    if (!isGivenUp(node, shift)) return
    const left = [...node.waitingReads].filter((read) => !read.moveOn())
    if (left.length === 0 || planned.has(node)) return
    planned.add(node)
    const again = (): void => {
      planned.delete(node)
      moveReads(node)
    }
    setTimeout(again, AGAIN_MS).unref()
  }
}
