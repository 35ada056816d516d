import { Client } from 'undici'
import type { Node } from './node.ts'
import { probe, readRegistered } from './probe.ts'

export interface ProberOptions {
  readonly nodes: readonly Node[]
  /** Between two probes of a healthy node; an ejected one is probed sooner. */
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Whether to read the registered deployments too. */
  readonly deployments: boolean
  /** The engine's name on its nodes; null: they are those of an application. */
  readonly engine: string | null
  readonly headers: string[]
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/** Probes every node, at once and then periodically. */
export interface Prober {
  /** The state of the node has changed: schedules its next probe again. */
  readonly reschedule: (node: Node) => void
  /** Reads the deployments of all nodes if they are needed. Resolves when all have answered or timed out. */
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
    // Gateways that started together must not probe together.
    const usualMs = intervalMs * (0.9 + 0.2 * random())
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#probe(), this.#node.health.probeInMs(usualMs, now())).unref()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    void this.#client.destroy()
  }

  /** Keeps the last known deployments if there is no answer. */
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
