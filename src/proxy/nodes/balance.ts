import type { BalancingPolicy } from '../../config/node-settings.ts'
import { BALANCING_POLICIES, type PolicyOptions } from './balancing-policies.ts'
import type { Node } from './node.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { NodePool } from './node-pool.ts'

/**
 * Chooses the node of the next attempt. Nodes in `tried` and full nodes do not qualify. Returns null if no node is left. If some
 * nodes match `wanted`, only those qualify, and the request waits for them if they are full.
 */
export type Balance = (tried: readonly Node[], wanted?: NodePreference) => Node | null

type NodePreference = Pick<UpstreamRequest, 'deployment' | 'preferredNode' | 'operation' | 'group'>

const ANY_NODE: NodePreference = {}

export interface BalanceOptions extends PolicyOptions {
  readonly policy: BalancingPolicy
  /** Returns false if an operation may use none of the free places of a node. */
  readonly hasPlace: (node: Node, operation: string | undefined) => boolean
}

/** Creates a load balancer. The policy chooses among the nodes that qualify. */
export function createBalance(nodes: NodePool, { policy, hasPlace, ...options }: BalanceOptions): Balance {
  const { now } = options
  const choose = BALANCING_POLICIES[policy](options)
  // A request that failed on another node does not wait. Its operation may seem slow only because that node did not respond.
  const hasRoom = (node: Node, operation: string | undefined, hasFailed: boolean): boolean =>
    hasFailed ? node.inFlight < node.ceiling : node.inFlight < node.capacity && hasPlace(node, operation)
  return function pick(tried, { deployment, preferredNode, operation, group } = ANY_NODE) {
    const inGroup = (node: Node): boolean => node.group === group
    const hasGroup = group !== undefined && nodes.used.some(inGroup)
    const isWanted = (node: Node): boolean =>
      (!hasGroup || inGroup(node)) &&
      ((deployment !== undefined && node.registered.has(deployment)) ||
        (node.name === preferredNode && tried.length === 0))
    const isSelective = nodes.used.some(isWanted)
    const isOpen = (node: Node): boolean =>
      hasRoom(node, operation, tried.length > 0) &&
      !tried.includes(node) &&
      (!hasGroup || inGroup(node)) &&
      (!isSelective || isWanted(node))
    const isCandidate = (node: Node): boolean => isOpen(node) && !nodes.isSkipped(node)
    const chosen = nodes.trial(isOpen, now) ?? choose(nodes.used.filter(isCandidate))
    if (chosen !== null || tried.length === 0) return chosen
    // Nothing was sent yet, or the request may be retried. An attempt on an ejected node costs less than an error.
    return choose(nodes.lastResort().filter(isCandidate))
  }
}
