import type { Node } from './node.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { NodePool } from './node-pool.ts'

/**
 * Chooses the node of the next attempt. Nodes in `tried` and full nodes do not qualify. Returns null if no node is left. If some
 * nodes match `wanted`, only those qualify, and the request waits for them if they are full.
 */
export type Balance = (tried: readonly Node[], wanted?: NodePreference) => Node | null

type NodePreference = Pick<UpstreamRequest, 'deployment' | 'preferredNode'>

const ANY_NODE: NodePreference = {}

export interface BalanceOptions {
  readonly now: () => number
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** Differences below this value are noise. It also prevents a node without samples from looking infinitely fast. */
const LEAST_LATENCY_MS = 1

/** Creates a load balancer with the power of two choices: it takes two random nodes and returns the one whose queue ends sooner. */
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
  return function pick(tried, { deployment, preferredNode } = ANY_NODE) {
    const isWanted = (node: Node): boolean =>
      (deployment !== undefined && node.registered.has(deployment)) ||
      (node.name === preferredNode && tried.length === 0)
    const isSelective = nodes.used.some(isWanted)
    const isOpen = (node: Node): boolean =>
      // A request that failed on another node does not wait.
      node.inFlight < (tried.length === 0 ? node.capacity : node.ceiling) &&
      !tried.includes(node) &&
      (!isSelective || isWanted(node))
    const isCandidate = (node: Node): boolean => isOpen(node) && !nodes.isSkipped(node)
    const chosen = nodes.trial(isOpen, now) ?? better(nodes.used.filter(isCandidate))
    if (chosen !== null || tried.length === 0) return chosen
    // Nothing was sent yet, or the request may be retried. An attempt on an ejected node costs less than an error.
    return better(nodes.lastResort().filter(isCandidate))
  }
}

function costOf(node: Node, nowMs: number): number {
  const latencyMs = Math.max(LEAST_LATENCY_MS, node.latency.readMs(nowMs))
  return ((node.inFlight + 1) * latencyMs) / (node.weight * node.health.shareAt(nowMs))
}
