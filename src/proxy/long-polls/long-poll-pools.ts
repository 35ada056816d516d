import type { Node } from '../nodes/node.ts'
import type { NodePool } from '../nodes/node-pool.ts'

/** Approximately the time that an engine needs to check all polls that it holds. */
const COOL_DOWN_MS = 1000

/**
 * The connections of long polls. They are separate, so that other requests always find a free connection. Each node has a second
 * `Node` object here with its own pool and its own count of requests in flight. Both objects share the node's health.
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
      nodes.configured.map((node) => [
        node,
        { ...node, pool: node.openPool(perNode), capacity: perNode, ceiling: perNode, inFlight: 0 },
      ]),
    )
  }

  /** False if all nodes are drained. */
  get hasNodes(): boolean {
    return this.#nodes.live.length > 0
  }

  /** Returns true if an operator has drained the node of a poll. */
  isDrained(pollNode: Node): boolean {
    return this.#nodes.isDrainedByCommand(pollNode)
  }

  /**
   * Returns the used node with the fewest polls that is not in `tried`, or null if all nodes are full. The nodes of the group are
   * preferred. Nodes of another group serve polls too, because writes at one node nudge all others.
   */
  pick(tried: readonly Node[], group?: string): Node | null {
    const trialNode = this.#nodes.trial((node) => this.#openOf(node, tried) !== null, this.#now)
    const pollNode = trialNode === null ? null : this.#openOf(trialNode, tried)
    if (pollNode !== null) return pollNode
    const { used } = this.#nodes
    const inGroup = group === undefined ? [] : used.filter((node) => node.group === group)
    const chosen = this.#cheapest(inGroup, tried) ?? this.#cheapest(used, tried)
    return chosen === null && tried.length > 0 ? this.#cheapest(this.#nodes.lastResort(), tried) : chosen
  }

  /** Returns true if a node exists that is not in `tried`, even if it is full. An ejected node counts, because it may have recovered. */
  hasOther(tried: readonly Node[]): boolean {
    return this.#nodes.lastResort().some((node) => {
      const pollNode = this.#pools.get(node)
      return pollNode !== undefined && !tried.includes(pollNode)
    })
  }

  /** Makes `pick` prefer other nodes for `COOL_DOWN_MS`. Call it when the node reported that it accepts no more polls. */
  coolDown(pollNode: Node): void {
    this.#coolDownUntilMs.set(pollNode, this.#now() + COOL_DOWN_MS)
  }

  async close(): Promise<void> {
    const open = [...this.#pools.values()].filter(({ pool }) => !pool.closed)
    await Promise.all(open.map(({ pool }) => pool.close()))
  }

  #openOf(node: Node, tried: readonly Node[]): Node | null {
    const pollNode = this.#pools.get(node)
    return pollNode === undefined || pollNode.inFlight >= pollNode.capacity || tried.includes(pollNode)
      ? null
      : pollNode
  }

  #cheapest(nodes: readonly Node[], tried: readonly Node[]): Node | null {
    const nowMs = this.#now()
    let best: Node | null = null
    for (const node of nodes) {
      const pollNode = this.#openOf(node, tried)
      if (pollNode === null) continue
      if (best === null || this.#costOf(pollNode, nowMs) < this.#costOf(best, nowMs)) best = pollNode
    }
    return best
  }

  #costOf(pollNode: Node, nowMs: number): number {
    const isCoolingDown = nowMs < (this.#coolDownUntilMs.get(pollNode) ?? -Infinity)
    return isCoolingDown ? Infinity : pollNode.inFlight / pollNode.weight
  }
}
