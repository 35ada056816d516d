import type { HealthChange, EjectionReason } from './health.ts'
import { createNode, type Node, type NodeOptions } from './node.ts'

/** A configured node. */
export interface NodeAddress {
  /** `http://host:8080/engine-rest` */
  readonly url: string
  /** Its share of the requests relative to the other nodes. Default: 1. */
  readonly weight?: number
  /** True if the node gets no new requests, regardless of the state of the other nodes. Default: false. */
  readonly drain?: boolean
  /** Its group, between which requests are shifted. Default: no group. */
  readonly group?: string | null
}

export interface NodeState {
  readonly node: string
  readonly isDrained: boolean
  /** Null if the nodes have no groups. */
  readonly group: string | null
  /** Whether an operator has drained it while the gateway runs. */
  readonly isDrainedByCommand: boolean
  /** The reason for its ejection, or null if it is healthy. */
  readonly reason: EjectionReason | null
  /** The limit of concurrent requests. */
  readonly limit: number
  /** The deployments that are registered at the node, as last read. */
  readonly registered: ReadonlySet<string>
  readonly inFlight: number
  /** The number of long polls that the node holds, also for clients that have disconnected or wait at another node. */
  readonly polls: number
  /** The moving average. It is near 0 if the node has had no request for a long time. */
  readonly latencyMs: number
  readonly ejections: number
  /** When the certificate that the node presented last expires, in ms since 1970. Null if it has presented none. */
  readonly certificateEndsAtMs: number | null
}

export interface NodeEvent extends HealthChange {
  readonly node: string
  /** The number of healthy nodes of the engine, without drained nodes. */
  readonly healthy: number
  readonly nodes: number
}

export interface NodePoolOptions
  extends Omit<NodeOptions, 'url' | 'weight' | 'isDrained' | 'group' | 'onChange'> {
  readonly nodes: readonly (string | NodeAddress)[]
  readonly now: () => number
  readonly onChange: (event: NodeEvent, node: Node) => void
}

/** The nodes of one engine, with the choice of the nodes that are used. */
export class NodePool {
  readonly all: readonly Node[]
  /** The nodes that the configuration does not drain. */
  readonly configured: readonly Node[]
  /** True if probes end ejections. False if a trial request must end them. */
  isProbed = false
  readonly #options: NodePoolOptions
  #drained: ReadonlySet<string> = new Set()
  #refusedGroup: string | null = null
  #live: readonly Node[]
  #used: readonly Node[]
  #hasEjected = false

  constructor(options: NodePoolOptions) {
    this.#options = options
    this.all = options.nodes.map((address) => this.#create(address))
    this.configured = this.all.filter(({ isDrained }) => !isDrained)
    this.#live = this.configured
    this.#used = this.#live
  }

  /** All nodes except drained ones. */
  get live(): readonly Node[] {
    return this.#live
  }

  get used(): readonly Node[] {
    return this.#used
  }

  /** Drains the nodes with these names, and uses those again that were drained before. Names of other nodes are ignored. */
  drain(names: ReadonlySet<string>): void {
    this.#drained = names
    this.#chooseLive()
  }

  /** Uses no node of this group, as if they were drained, and uses those of a group that was refused before. Null: no group is refused. */
  refuseGroup(group: string | null): void {
    this.#refusedGroup = group
    this.#chooseLive()
  }

  /** Returns true if an operator has drained the node. */
  isDrainedByCommand({ name }: Pick<Node, 'name'>): boolean {
    return this.#drained.has(name)
  }

  /** Returns the nodes to try if all others failed. */
  lastResort(): readonly Node[] {
    return this.#live.filter(({ health }) => health.reason !== 'wrong-engine')
  }

  /** Returns true if a node is silent and a probe checks whether it has recovered. Without probes, one request at a time checks this. */
  isSkipped({ health, inFlight }: Node): boolean {
    return health.isSilent && (this.isProbed || inFlight > 0)
  }

  /** True if no node can process requests. A request should then not wait for a node. */
  get isUnreachable(): boolean {
    return this.#live.length === 0 || (this.#hasEjected && this.#used.every((node) => this.isSkipped(node)))
  }

  /** Returns a node whose ejection period is over, if no probes run. */
  trial(isOpen: (node: Node) => boolean, now: () => number): Node | null {
    if (!this.#hasEjected || this.isProbed) return null
    return this.#live.find((node) => isOpen(node) && node.health.takeTrial(now())) ?? null
  }

  /** @param pollsAt returns the number of long polls that a node holds */
  states(pollsAt: (node: string) => number): readonly NodeState[] {
    const nowMs = this.#options.now()
    return this.all.map(
      ({
        name,
        isDrained,
        group,
        health,
        capacity,
        registered,
        inFlight,
        latency,
        ejections,
        certificate,
      }) => ({
        node: name,
        isDrained: isDrained || this.#isOutOfUse({ name, group }),
        isDrainedByCommand: this.#drained.has(name),
        group,
        reason: health.reason,
        limit: capacity,
        registered,
        inFlight,
        polls: pollsAt(name),
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
    const {
      url,
      weight = 1,
      drain = false,
      group = null,
    } = typeof address === 'string' ? { url: address } : address
    const onChange = (change: HealthChange): void => this.#change(node, change)
    const node: Node = createNode({ ...this.#options, url, weight, isDrained: drain, group, onChange })
    return node
  }

  #change(node: Node, change: HealthChange): void {
    const healthy = this.#choose()
    if (change.reason === null) this.#seed(node)
    else node.ejections += 1
    const counts = { healthy: healthy.length, nodes: this.#live.length }
    this.#options.onChange({ node: node.name, ...change, ...counts }, node)
  }

  #isOutOfUse({ name, group }: Pick<Node, 'name' | 'group'>): boolean {
    return this.#drained.has(name) || (group !== null && group === this.#refusedGroup)
  }

  /** Chooses the live nodes. A node that was out of use gets requests slowly. */
  #chooseLive(): void {
    const before = new Set(this.#live)
    this.#live = this.configured.filter((node) => !this.#isOutOfUse(node))
    this.#choose()
    for (const node of this.#live.filter((one) => !before.has(one))) {
      node.health.startRamp(this.#options.now())
      this.#seed(node)
    }
  }

  /** Chooses the nodes that are used, and returns the healthy ones. */
  #choose(): readonly Node[] {
    const healthy = this.#live.filter(({ health }) => health.reason === null)
    this.#hasEjected = healthy.length < this.#live.length
    this.#used = usedOf(this.#live, healthy)
    return healthy
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
 * Returns the healthy nodes, and ejected nodes if fewer than half of the nodes are healthy, because fewer nodes could not carry the
 * load. Ejected nodes are added until half of the nodes are used. Unreachable nodes are not added. If no node is left, all are
 * used, because the health data may be wrong.
 */
function usedOf(live: readonly Node[], healthy: readonly Node[]): readonly Node[] {
  const missing = Math.ceil(live.length / 2) - healthy.length
  const ejected = live.filter(({ health }) => health.reason !== null && !health.isUnreachable)
  const used = missing <= 0 ? healthy : [...healthy, ...ejected.slice(0, missing)]
  return used.length === 0 ? live : used
}
