import { Client } from 'undici'
import type { Node } from './node.ts'
import { probe, readRegistered } from './probe.ts'

export interface ProberOptions {
  readonly nodes: readonly Node[]
  /** The time between two probes of a healthy node. An ejected node is probed sooner. */
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Whether to read the registered deployments as well. */
  readonly deployments: boolean
  /** The engine's name on its nodes. Null for the nodes of an application. */
  readonly engine: string | null
  readonly headers: string[]
  readonly now: () => number
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** Probes every node, immediately and then periodically. */
export interface Prober {
  /** Schedules the next probe of a node again. Call it when the state of the node has changed. */
  readonly reschedule: (node: Node) => void
  /** Reads the deployments of all nodes if they are needed. Resolves when all nodes have responded or timed out. */
  readonly readRegistered: () => Promise<void>
  readonly close: () => void
}

export function createProber(options: ProberOptions): Prober {
  const probers = new Map(options.nodes.map((node) => [node, new NodeProber(node, options)]))
  for (const each of probers.values()) each.start()
  return {
    reschedule: (node) => probers.get(node)?.schedule(),
    readRegistered: async () => {
      await Promise.all([...probers.values()].map((each) => each.readRegistered()))
    },
    close: () => {
      for (const each of probers.values()) each.close()
    },
  }
}

class NodeProber {
  readonly #node: Node
  readonly #options: ProberOptions
  readonly #client: Client
  #timer: NodeJS.Timeout | undefined
  #isProbing = false
  #isClosed = false

  constructor(node: Node, options: ProberOptions) {
    this.#node = node
    this.#options = options
    this.#client = new Client(node.origin, { connect: node.connect, allowH2: false })
  }

  start(): void {
    this.#timer = setTimeout(() => void this.#probe(), 0).unref()
  }

  schedule(): void {
    if (this.#isProbing || this.#isClosed) return
    const { intervalMs, random, now } = this.#options
    // Gateways that started at the same time must not probe at the same time.
    const usualMs = intervalMs * (0.9 + 0.2 * random())
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#probe(), this.#node.health.probeInMs(usualMs, now())).unref()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    void this.#client.destroy()
  }

  /** Reads the deployments of the node. The last known deployments remain if there is no response. */
  async readRegistered(): Promise<void> {
    const { headers, timeoutMs, deployments } = this.#options
    if (!deployments || this.#isClosed) return
    const path = `${this.#node.prefix}/deployment/registered`
    const registered = await readRegistered(this.#client, { path, headers, timeoutMs })
    if (registered !== null) this.#node.registered = registered
  }

  async #probe(): Promise<void> {
    const { headers, engine, timeoutMs, now } = this.#options
    this.#isProbing = true
    const startedAtMs = now()
    const { result, detail, isSilent } = await probe(this.#client, {
      path: this.#node.probePath,
      headers,
      engine,
      timeoutMs,
    })
    if (result === 'ok') await this.readRegistered()
    if (this.#isClosed) return
    if (isSilent === true) this.#node.health.silent(startedAtMs)
    this.#node.health.probed(result, now(), detail)
    this.#isProbing = false
    this.schedule()
  }
}
