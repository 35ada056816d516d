import type { Node } from '../nodes/node.ts'
import type { NodePool } from '../nodes/node-pool.ts'

/** About as long as an engine takes to look at all polls it holds. */
const SHUNNED_MS = 1000

/**
 * The connections of long polls: beside those of other requests, which must find theirs free. A lane is its node once
 * more, with a pool and a count of its own; what is believed of the node holds for both.
 */
export class LongPollPools {
  readonly #nodes: NodePool
  readonly #now: () => number
  readonly #pools: ReadonlyMap<Node, Node>
  readonly #coolDownUntilMs = new Map<Node, number>()

  constructor(nodes: NodePool, perNode: number, now: () => number) {
    this.#nodes = nodes
    this.#now = now
    this.#pools = new Map(
      nodes.live.map((node) => [
        node,
        { ...node, pool: node.openPool(perNode), capacity: perNode, ceiling: perNode, inFlight: 0 },
      ]),
    )
  }

  /** Of the nodes that take requests, but for `tried`, the one with the fewest polls; null: all are full. */
  pick(tried: readonly Node[]): Node | null {
    const onTrial = this.#nodes.trial((node) => this.#openOf(node, tried) !== null, this.#now)
    const pollPool = onTrial === null ? null : this.#openOf(onTrial, tried)
    if (pollPool !== null) return pollPool
    const chosen = this.#cheapest(this.#nodes.used, tried)
    return chosen === null && tried.length > 0 ? this.#cheapest(this.#nodes.lastResort(), tried) : chosen
  }

  /** Whether there is one beside `tried`, full or not: also one that is believed ill, which may be back by now. */
  hasOther(tried: readonly Node[]): boolean {
    return this.#nodes.lastResort().some((node) => {
      const pollPool = this.#pools.get(node)
      return pollPool !== undefined && !tried.includes(pollPool)
    })
  }

  /** It has said that it takes no more polls: others come first for a while. */
  coolDown(pollPool: Node): void {
    this.#coolDownUntilMs.set(pollPool, this.#now() + SHUNNED_MS)
  }

  async close(): Promise<void> {
    const open = [...this.#pools.values()].filter(({ pool }) => !pool.closed)
    await Promise.all(open.map(({ pool }) => pool.close()))
  }

  #openOf(node: Node, tried: readonly Node[]): Node | null {
    const pollPool = this.#pools.get(node)
    return pollPool === undefined || pollPool.inFlight >= pollPool.capacity || tried.includes(pollPool)
      ? null
      : pollPool
  }

  #cheapest(nodes: readonly Node[], tried: readonly Node[]): Node | null {
    const nowMs = this.#now()
    let best: Node | null = null
    for (const node of nodes) {
      const pollPool = this.#openOf(node, tried)
      if (pollPool === null) continue
      if (best === null || this.#costOf(pollPool, nowMs) < this.#costOf(best, nowMs)) best = pollPool
    }
    return best
  }

  #costOf(pollPool: Node, nowMs: number): number {
    const isShunned = nowMs < (this.#coolDownUntilMs.get(pollPool) ?? -Infinity)
    return isShunned ? Infinity : pollPool.inFlight / pollPool.weight
  }
}
