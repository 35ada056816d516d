import { setTimeout as wait } from 'node:timers/promises'
import { type Config, ConfigError } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { JsonAnswer, Readiness } from '../metrics/admin-listener.ts'
import { createTotals } from '../metrics/aggregate.ts'
import type { Metrics } from '../metrics/registry.ts'
import { isJsonAnswer } from './worker-messages.ts'
import { Slot } from './slot.ts'
import type { Fork } from './worker-process.ts'

interface CrewOptions {
  readonly config: Config
  readonly fork: Fork
  readonly metrics: Metrics
  readonly log: Logger
}

/** A probe waits a second; a worker that is busy for longer counts by what it said before. */
const READINESS_MS = 500
const METRICS_MS = 2000
/** An answer may take look-ups at an engine. */
const EXPLAIN_MS = 30_000
const WATCH_MS = 5000
/** A worker ends at the deadline of a drain by itself. */
const BEYOND_DRAIN_MS = 1000

/** All workers. */
export class WorkerPool {
  readonly #slots: readonly Slot[]
  readonly #totals = createTotals()
  readonly #metrics: Metrics
  #config: Config
  #watch: NodeJS.Timeout | undefined
  #isDraining = false

  constructor({ config, fork, metrics, log }: CrewOptions) {
    this.#config = config
    this.#metrics = metrics
    this.#slots = Array.from({ length: config.workers }, (_, index) => {
      const number = index + 1
      const onEnd = (reason: string) => {
        metrics.workerRestart({ reason })
        this.#totals.ended(number)
      }
      return new Slot({ number, fork, config: () => this.#config, onEnd, log })
    })
    metrics.gauge('gateway_workers', 'Workers that listen.', () => this.#listening().length)
  }

  get config(): Config {
    return this.#config
  }

  #listening(): readonly Slot[] {
    return this.#slots.filter(({ isListening }) => isListening)
  }

  /** The first one alone: what keeps it from listening would keep all. @throws Error when it ends before */
  async start(): Promise<string> {
    const [first, ...others] = this.#slots
    if (first === undefined) throw new Error('There is no worker')
    const address = await first.start()
    for (const slot of others) slot.begin()
    this.#watch = setInterval(() => this.#slots.forEach((slot) => void slot.watch()), WATCH_MS).unref()
    return address
  }

  /** In all or in none: where one refuses, the others go back. @throws ConfigError */
  async replace(next: Config): Promise<void> {
    if (this.#isDraining) throw new ConfigError('The configuration', ['(the gateway): is shutting down'])
    const problems = await Promise.all(this.#slots.map((slot) => slot.replace(next)))
    const named = new Set(problems.flat())
    if (named.size === 0) this.#config = next
    // Also those that came to listen meanwhile.
    await Promise.all(this.#slots.map((slot) => slot.keepUp()))
    if (named.size > 0) throw new ConfigError('The configuration', [...named])
  }

  /** Ready where one is. */
  async readiness(): Promise<Readiness> {
    const all = await Promise.all(this.#slots.map((slot) => slot.readiness(READINESS_MS)))
    return {
      ready: !this.#isDraining && all.some(({ ready }) => ready),
      checks: {
        ...Object.fromEntries(all.flatMap(({ checks }) => Object.entries(checks))),
        drain: this.#isDraining ? 'shutting down' : 'ok',
      },
    }
  }

  /** Of one that does not answer in time counts what it said before. */
  async metricsText(): Promise<string> {
    await Promise.all(this.#slots.map((slot) => this.#count(slot)))
    return this.#totals.text(await this.#metrics.snapshot())
  }

  async #count(slot: Slot): Promise<void> {
    const snapshot = await slot.snapshot(METRICS_MS)
    if (snapshot !== null) this.#totals.heard(slot.number, snapshot)
  }

  /** By any one: all decide alike. */
  async explain(question: unknown): Promise<JsonAnswer> {
    const [slot] = this.#listening()
    const answer = await slot?.explain(question, EXPLAIN_MS)
    return isJsonAnswer(answer) ? answer : { status: 503, value: { error: 'No worker answers' } }
  }

  /** Resolves when all have ended; at the deadline, and a little, they are killed: how many. */
  async drain(): Promise<number> {
    this.#isDraining = true
    clearInterval(this.#watch)
    const over = Promise.all(this.#slots.map((slot) => slot.drain()))
    const late = this.#config.timeouts.drain + BEYOND_DRAIN_MS
    await Promise.race([over, wait(late, undefined, { ref: false })])
    const left = this.#slots.filter(({ isOccupied }) => isOccupied)
    for (const slot of left) slot.kill()
    await Promise.race([over, wait(BEYOND_DRAIN_MS, undefined, { ref: false })])
    return left.length
  }
}
