import type { Node } from '../nodes/node.ts'
import type { NodeSet } from '../nodes/node-set.ts'

/** About as long as an engine takes to look at all polls it holds. */
const SHUNNED_MS = 1000

/**
 * The connections of long polls: beside those of other requests, which must find theirs free. A lane is its node once
 * more, with a pool and a count of its own; what is believed of the node holds for both.
 */
export class Lanes {
  readonly #nodes: NodeSet
  readonly #now: () => number
  readonly #lanes: ReadonlyMap<Node, Node>
  readonly #shunnedUntilMs = new Map<Node, number>()

  constructor(nodes: NodeSet, perNode: number, now: () => number) {
    this.#nodes = nodes
    this.#now = now
    this.#lanes = new Map(
      nodes.live.map((node) => [
        node,
        { ...node, pool: node.openPool(perNode), capacity: perNode, ceiling: perNode, inFlight: 0 },
      ]),
    )
  }

  /** Of the nodes that take requests, but for `tried`, the one with the fewest polls; null: all are full. */
  pick(tried: readonly Node[]): Node | null {
    const onTrial = this.#nodes.trial((node) => this.#openOf(node, tried) !== null, this.#now)
    const lane = onTrial === null ? null : this.#openOf(onTrial, tried)
    if (lane !== null) return lane
    const chosen = this.#cheapest(this.#nodes.used, tried)
    return chosen === null && tried.length > 0 ? this.#cheapest(this.#nodes.lastResort(), tried) : chosen
  }

  /** Whether there is one beside `tried`, full or not: also one that is believed ill, which may be back by now. */
  hasOther(tried: readonly Node[]): boolean {
    return this.#nodes.lastResort().some((node) => {
      const lane = this.#lanes.get(node)
      return lane !== undefined && !tried.includes(lane)
    })
  }

  /** It has said that it takes no more polls: others come first for a while. */
  shun(lane: Node): void {
    this.#shunnedUntilMs.set(lane, this.#now() + SHUNNED_MS)
  }

  async close(): Promise<void> {
    const open = [...this.#lanes.values()].filter(({ pool }) => !pool.closed)
    await Promise.all(open.map(({ pool }) => pool.close()))
  }

  #openOf(node: Node, tried: readonly Node[]): Node | null {
    const lane = this.#lanes.get(node)
    return lane === undefined || lane.inFlight >= lane.capacity || tried.includes(lane) ? null : lane
  }

  #cheapest(nodes: readonly Node[], tried: readonly Node[]): Node | null {
    const nowMs = this.#now()
    let best: Node | null = null
    for (const node of nodes) {
      const lane = this.#openOf(node, tried)
      if (lane === null) continue
      if (best === null || this.#costOf(lane, nowMs) < this.#costOf(best, nowMs)) best = lane
    }
    return best
  }

  #costOf(lane: Node, nowMs: number): number {
    const isShunned = nowMs < (this.#shunnedUntilMs.get(lane) ?? -Infinity)
    return isShunned ? Infinity : lane.inFlight / lane.weight
  }
}
