import type { HealthChange, EjectionReason } from './health.ts'
import { createNode, type Node, type NodeOptions } from './node.ts'

/** A node as configured. */
export interface NodeAddress {
  /** `http://host:8080/engine-rest` */
  readonly url: string
  /** Its share of the requests beside the other nodes'. Default 1. */
  readonly weight?: number
  /** True: it gets no new requests, whatever becomes of the others. Default false. */
  readonly drain?: boolean
}

/** What is believed of a node. */
export interface NodeState {
  readonly node: string
  readonly isDrained: boolean
  /** Null: it is believed healthy. */
  readonly reason: EjectionReason | null
  /** Requests it is given at once. */
  readonly limit: number
}

export interface NodeEvent extends HealthChange {
  readonly node: string
  /** Of the engine's nodes, drained ones left out. */
  readonly healthy: number
  readonly nodes: number
}

export interface NodePoolOptions extends Omit<NodeOptions, 'url' | 'weight' | 'isDrained' | 'onChange'> {
  readonly nodes: readonly (string | NodeAddress)[]
  readonly now: () => number
  readonly onChange: (event: NodeEvent, node: Node) => void
}

/** The nodes of one engine, and which of them are used. */
export class NodePool {
  readonly all: readonly Node[]
  /** All but the drained ones. */
  readonly live: readonly Node[]
  /** True: a probe brings nodes back. False: a request has to try. */
  isProbed = false
  readonly #options: NodePoolOptions
  #used: readonly Node[]
  #isAnyIll = false

  constructor(options: NodePoolOptions) {
    this.#options = options
    this.all = options.nodes.map((address) => this.#create(address))
    this.live = this.all.filter(({ isDrained }) => !isDrained)
    this.#used = this.live
  }

  get used(): readonly Node[] {
    return this.#used
  }

  /** Those that may be asked when all others have been. */
  lastResort(): readonly Node[] {
    return this.live.filter(({ health }) => health.reason !== 'wrong-engine')
  }

  /** It is silent, and somebody finds out whether it is back: a probe, or without probes one request at a time. */
  isToBeLeft({ health, inFlight }: Node): boolean {
    return health.isSilent && (this.isProbed || inFlight > 0)
  }

  /** No request has anywhere to go, and none is to wait for that. */
  get isUnreachable(): boolean {
    return this.#isAnyIll && this.#used.every((node) => this.isToBeLeft(node))
  }

  /** A node that was ejected long enough ago, if there is no probe to find out whether it is well again. */
  trial(isOpen: (node: Node) => boolean, now: () => number): Node | null {
    if (!this.#isAnyIll || this.isProbed) return null
    return this.live.find((node) => isOpen(node) && node.health.takeTrial(now())) ?? null
  }

  states(): readonly NodeState[] {
    return this.all.map(({ name, isDrained, health, capacity }) => ({
      node: name,
      isDrained,
      reason: health.reason,
      limit: capacity,
    }))
  }

  async close(): Promise<void> {
    await Promise.all(this.all.filter(({ pool }) => !pool.closed).map(({ pool }) => pool.close()))
  }

  #create(address: string | NodeAddress): Node {
    const { url, weight = 1, drain = false } = typeof address === 'string' ? { url: address } : address
    const onChange = (change: HealthChange): void => this.#change(node, change)
    const node: Node = createNode({ ...this.#options, url, weight, isDrained: drain, onChange })
    return node
  }

  #change(node: Node, change: HealthChange): void {
    const healthy = this.live.filter(({ health }) => health.reason === null)
    this.#isAnyIll = healthy.length < this.live.length
    this.#used = usedOf(this.live, healthy)
    if (change.reason === null) this.#seed(node)
    const counts = { healthy: healthy.length, nodes: this.live.length }
    this.#options.onChange({ node: node.name, ...change, ...counts }, node)
  }

  /** A node that is back is taken to be as quick as the others until it shows how quick it is. */
  #seed(node: Node): void {
    const nowMs = this.#options.now()
    const others = this.#used.filter((other) => other !== node)
    const sumMs = others.reduce((sum, { latency }) => sum + latency.readMs(nowMs), 0)
    node.latency.seed(sumMs / Math.max(1, others.length), nowMs)
  }
}

/**
 * The healthy nodes, and as many of those that answer badly as are needed for half to be used: the rest could not carry
 * the load. Those that are away could not either. With none left all are used, for then the belief may be wrong.
 */
function usedOf(live: readonly Node[], healthy: readonly Node[]): readonly Node[] {
  const missing = Math.ceil(live.length / 2) - healthy.length
  const ill = live.filter(({ health }) => health.reason !== null && !health.isUnreachable)
  const used = missing <= 0 ? healthy : [...healthy, ...ill.slice(0, missing)]
  return used.length === 0 ? live : used
}
