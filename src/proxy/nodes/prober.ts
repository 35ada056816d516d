import { Client } from 'undici'
import type { Node } from './node.ts'
import { probe, readRegistered } from './probe.ts'

export interface ProberOptions {
  readonly nodes: readonly Node[]
  /** From one probe of a node to the next while all is well; a node that is ill is asked sooner. */
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Whether to ask also for the deployments that each has registered. */
  readonly deployments: boolean
  /** The engine's name on its nodes. */
  readonly engine: string
  readonly headers: string[]
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/** Asks every node for its engines, at once and again and again. */
export interface Prober {
  /** Something has changed: the next probe comes when it is due now. */
  readonly reschedule: (node: Node) => void
  /** Asks for the deployments of all nodes, where they matter; resolves when all have answered or had their time. */
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
  #isAsking = false
  #isClosed = false

  constructor(node: Node, options: ProberOptions) {
    this.#node = node
    this.#options = options
    this.#client = new Client(node.origin, { connect: node.connect, allowH2: false })
  }

  start(): void {
    this.#timer = setTimeout(() => void this.#ask(), 0).unref()
  }

  schedule(): void {
    if (this.#isAsking || this.#isClosed) return
    const { intervalMs, random, now } = this.#options
    // Many gateways that started together shall not ask together.
    const usualMs = intervalMs * (0.9 + 0.2 * random())
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#ask(), this.#node.health.probeInMs(usualMs, now())).unref()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    void this.#client.destroy()
  }

  /** What is not said leaves what is known. */
  async readRegistered(): Promise<void> {
    const { headers, timeoutMs, deployments } = this.#options
    if (!deployments || this.#isClosed) return
    const path = `${this.#node.prefix}/deployment/registered`
    const registered = await readRegistered(this.#client, { path, headers, timeoutMs })
    if (registered !== null) this.#node.registered = registered
  }

  async #ask(): Promise<void> {
    const { headers, engine, timeoutMs, now } = this.#options
    this.#isAsking = true
    const startedAtMs = now()
    const {
      result: verdict,
      detail,
      isSilent,
    } = await probe(this.#client, {
      path: this.#node.probePath,
      headers,
      engine,
      timeoutMs,
    })
    if (verdict === 'ok') await this.readRegistered()
    if (this.#isClosed) return
    if (isSilent === true) this.#node.health.silent(startedAtMs)
    this.#node.health.probed(verdict, now(), detail)
    this.#isAsking = false
    this.schedule()
  }
}
