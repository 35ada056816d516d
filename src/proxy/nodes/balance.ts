import type { Node } from './node.ts'
import type { NodePool } from './node-pool.ts'

/**
 * Chooses the node of the next attempt: none of `tried`, none that is full; null if no such node is left. Of `deployment`
 * only the nodes that have it will do, full or not, unless none has it.
 */
export type Balance = (tried: readonly Node[], deployment?: string) => Node | null

export interface BalanceOptions {
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/** Below this, differences are noise; and a node of which nothing is known yet must not look infinitely quick. */
const LEAST_LATENCY_MS = 1

/** Power of two choices: of two nodes at random the one whose queue would be over sooner. */
export function createBalance(nodes: NodePool, { now, random }: BalanceOptions): Balance {
  function better(open: readonly Node[]): Node | null {
    const count = open.length
    const one = open[Math.floor(random() * count)]
    if (one === undefined || count === 1) return one ?? null
    const at = open.indexOf(one)
    const step = Math.floor(random() * (count - 1))
    const other = open[step < at ? step : step + 1]
    const nowMs = now()
    return other === undefined || costOf(one, nowMs) <= costOf(other, nowMs) ? one : other
  }
  return function pick(tried, deployment) {
    const has = (node: Node): boolean => deployment !== undefined && node.registered.has(deployment)
    const isChoosy = nodes.used.some(has)
    const isOpen = (node: Node): boolean =>
      // What another has failed to take is not kept waiting.
      node.inFlight < (tried.length === 0 ? node.capacity : node.ceiling) &&
      !tried.includes(node) &&
      (!isChoosy || has(node))
    const isWorthIt = (node: Node): boolean => isOpen(node) && !nodes.isToBeLeft(node)
    const chosen = nodes.trial(isOpen, now) ?? better(nodes.used.filter(isWorthIt))
    if (chosen !== null || tried.length === 0) return chosen
    // Nothing has been sent yet, or it may be repeated: a node that is believed ill costs less than an error.
    return better(nodes.lastResort().filter(isWorthIt))
  }
}

function costOf(node: Node, nowMs: number): number {
  const latencyMs = Math.max(LEAST_LATENCY_MS, node.latency.readMs(nowMs))
  return ((node.inFlight + 1) * latencyMs) / (node.weight * node.health.shareAt(nowMs))
}
