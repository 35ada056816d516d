import type { HealthChange, EjectionReason } from './health.ts'
import { createNode, type Node, type NodeOptions } from './node.ts'

/** A configured node. */
export interface NodeAddress {
  /** `http://host:8080/engine-rest` */
  readonly url: string
  /** Its share of the requests relative to the other nodes. Default 1. */
  readonly weight?: number
  /** True: it gets no new requests, whatever the state of the others. Default false. */
  readonly drain?: boolean
}

/** The known state of a node. */
export interface NodeState {
  readonly node: string
  readonly isDrained: boolean
  /** Null: it is healthy. */
  readonly reason: EjectionReason | null
  /** Its limit of concurrent requests. */
  readonly limit: number
  /** Deployments that it has registered, as last read. */
  readonly registered: ReadonlySet<string>
  readonly inFlight: number
  /** Moving average; 0 where it was not asked for long. */
  readonly latencyMs: number
  readonly ejections: number
  /** When the certificate that it showed last ends, in ms since 1970; null: it has shown none. */
  readonly certificateEndsAtMs: number | null
}

export interface NodeEvent extends HealthChange {
  readonly node: string
  /** Of the engine's nodes, without drained ones. */
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
  /** True: a probe ends ejections. False: a request has to try. */
  isProbed = false
  readonly #options: NodePoolOptions
  #used: readonly Node[]
  #hasEjected = false

  constructor(options: NodePoolOptions) {
    this.#options = options
    this.all = options.nodes.map((address) => this.#create(address))
    this.live = this.all.filter(({ isDrained }) => !isDrained)
    this.#used = this.live
  }

  get used(): readonly Node[] {
    return this.#used
  }

  /** The nodes to try when all others failed. */
  lastResort(): readonly Node[] {
    return this.live.filter(({ health }) => health.reason !== 'wrong-engine')
  }

  /** It is silent, and something checks whether it has recovered: a probe, or without probes one request at a time. */
  isSkipped({ health, inFlight }: Node): boolean {
    return health.isSilent && (this.isProbed || inFlight > 0)
  }

  /** No node can take requests, and none should wait for one. */
  get isUnreachable(): boolean {
    return this.#hasEjected && this.#used.every((node) => this.isSkipped(node))
  }

  /** A node whose ejection period is over, if no probe checks whether it has recovered. */
  trial(isOpen: (node: Node) => boolean, now: () => number): Node | null {
    if (!this.#hasEjected || this.isProbed) return null
    return this.live.find((node) => isOpen(node) && node.health.takeTrial(now())) ?? null
  }

  states(): readonly NodeState[] {
    const nowMs = this.#options.now()
    return this.all.map(
      ({ name, isDrained, health, capacity, registered, inFlight, latency, ejections, certificate }) => ({
        node: name,
        isDrained,
        reason: health.reason,
        limit: capacity,
        registered,
        inFlight,
        latencyMs: latency.readMs(nowMs),
        ejections,
        certificateEndsAtMs: certificate.endsAtMs,
      }),
    )
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
    this.#hasEjected = healthy.length < this.live.length
    this.#used = usedOf(this.live, healthy)
    if (change.reason === null) this.#seed(node)
    else node.ejections += 1
    const counts = { healthy: healthy.length, nodes: this.live.length }
    this.#options.onChange({ node: node.name, ...change, ...counts }, node)
  }

  /** Gives a recovered node the average latency of the others until it has its own samples. */
  #seed(node: Node): void {
    const nowMs = this.#options.now()
    const others = this.#used.filter((other) => other !== node)
    const sumMs = others.reduce((sum, { latency }) => sum + latency.readMs(nowMs), 0)
    node.latency.seed(sumMs / Math.max(1, others.length), nowMs)
  }
}

/**
 * The healthy nodes, and as many ejected ones with bad answers as are needed to use half of the nodes: fewer could not
 * carry the load. Unreachable nodes do not help. If no node is left, all are used, because the health data may then be
 * wrong.
 */
function usedOf(live: readonly Node[], healthy: readonly Node[]): readonly Node[] {
  const missing = Math.ceil(live.length / 2) - healthy.length
  const ejected = live.filter(({ health }) => health.reason !== null && !health.isUnreachable)
  const used = missing <= 0 ? healthy : [...healthy, ...ejected.slice(0, missing)]
  return used.length === 0 ? live : used
}
