import type { BalancingPolicy } from '../../config/node-settings.ts'
import type { Node } from './node.ts'

/** Chooses one of the nodes that qualify. Returns null if the list is empty. */
export type ChooseNode = (open: readonly Node[]) => Node | null

export interface PolicyOptions {
  readonly now: () => number
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** The implementation of each value of `engines.NAME.balancing`. */
export const BALANCING_POLICIES: Readonly<Record<BalancingPolicy, (options: PolicyOptions) => ChooseNode>> = {
  'least-load': createLeastLoad,
  'round-robin': createRoundRobin,
}

/** Differences below this value are noise. It also prevents a node without samples from looking infinitely fast. */
const LEAST_LATENCY_MS = 1

/** The power of two choices: of two random nodes, the one whose queue ends sooner. */
function createLeastLoad({ now, random }: PolicyOptions): ChooseNode {
  return function leastLoaded(open) {
    const count = open.length
    const one = open[Math.floor(random() * count)]
    if (one === undefined || count === 1) return one ?? null
    const at = open.indexOf(one)
    const step = Math.floor(random() * (count - 1))
    const other = open[step < at ? step : step + 1]
    const nowMs = now()
    return other === undefined || costOf(one, nowMs) <= costOf(other, nowMs) ? one : other
  }
}

function costOf(node: Node, nowMs: number): number {
  const latencyMs = Math.max(LEAST_LATENCY_MS, node.latency.readMs(nowMs))
  return ((node.inFlight + 1) * latencyMs) / shareOf(node, nowMs)
}

/**
 * The smooth weighted round robin of nginx (github.com/nginx/nginx/commit/52327e0627), which spreads the turns of a heavy node. Each
 * request adds the share of every node that qualifies to its credit. The node with the most credit pays the sum of these shares.
 */
function createRoundRobin({ now }: PolicyOptions): ChooseNode {
  const credits = new WeakMap<Node, number>()
  return function nextInTurn(open) {
    const nowMs = now()
    let sum = 0
    let best: Node | null = null
    let most = -Infinity
    for (const node of open) {
      const share = shareOf(node, nowMs)
      const credit = (credits.get(node) ?? 0) + share
      credits.set(node, credit)
      sum += share
      if (credit > most) {
        best = node
        most = credit
      }
    }
    if (best !== null) credits.set(best, most - sum)
    return best
  }
}

/** A recovered node has less than its weight for some seconds. */
function shareOf({ weight, health }: Node, nowMs: number): number {
  return weight * health.shareAt(nowMs)
}
