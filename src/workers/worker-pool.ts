import { setTimeout as wait } from 'node:timers/promises'
import { type Config, ConfigError } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Readiness } from '../metrics/admin-listener.ts'
import { createTotals } from '../metrics/aggregate.ts'
import type { Metrics } from '../metrics/registry.ts'
import { METRICS, type ProcessQuestion, READINESS, type ServingProcesses } from '../server/questions.ts'
import { Slot } from './slot.ts'
import type { Fork, WorkerProcess } from './worker-process.ts'

interface WorkerPoolOptions {
  readonly config: Config
  readonly fork: Fork
  readonly onListening: (worker: WorkerProcess) => void
  readonly metrics: Metrics
  readonly log: Logger
}

const WATCH_MS = 5000
/** The additional time before workers are killed. A worker ends at the drain deadline without a signal. */
const BEYOND_DRAIN_MS = 1000

/** The exit code of a worker that has failed, or has lost audit lines. */
const FAILED = 1

/** The slots of all workers. */
export class WorkerPool implements ServingProcesses {
  readonly #slots: readonly Slot[]
  readonly #totals = createTotals()
  readonly #metrics: Metrics
  #config: Config
  #watch: NodeJS.Timeout | undefined
  #isDraining = false

  constructor({ config, fork, onListening, metrics, log }: WorkerPoolOptions) {
    this.#config = config
    this.#metrics = metrics
    this.#slots = Array.from({ length: config.workers }, (_, index) => {
      const number = index + 1
      const onEnd = (reason: string) => {
        metrics.workerRestart({ reason })
        this.#totals.ended(number)
      }
      return new Slot({ number, fork, config: () => this.#config, onListening, onEnd, log })
    })
    metrics.gauge('gateway_workers', 'Number of workers that serve requests.', () => this.#listening().length)
  }

  get config(): Config {
    return this.#config
  }

  /** The configured number of workers. */
  get configured(): number {
    return this.#config.workers
  }

  #listening(): readonly Slot[] {
    return this.#slots.filter(({ isListening }) => isListening)
  }

  /** Starts the first worker alone, because a problem that stops it would stop all workers. @throws Error if it ends before it listens */
  async start(): Promise<void> {
    const [first, ...others] = this.#slots
    if (first === undefined) throw new Error('There is no worker')
    await first.start()
    for (const slot of others) slot.startInBackground()
    this.#watch = setInterval(() => this.#slots.forEach((slot) => void slot.watch()), WATCH_MS).unref()
  }

  /** Applies the configuration to all workers or to none. If one worker refuses it, the others return to the old one. @throws ConfigError */
  async replace(next: Config): Promise<void> {
    if (this.#isDraining) throw new ConfigError('The configuration', ['(the gateway): is shutting down'])
    const problems = await Promise.all(this.#slots.map((slot) => slot.replace(next)))
    const distinct = new Set(problems.flat())
    if (distinct.size === 0) this.#config = next
    // Includes workers that started to listen meanwhile.
    await Promise.all(this.#slots.map((slot) => slot.applyCurrentConfig()))
    if (distinct.size > 0) throw new ConfigError('The configuration', [...distinct])
  }

  async askEach<Answer>(question: ProcessQuestion<Answer>, parameters?: unknown): Promise<readonly Answer[]> {
    const answers = await Promise.all(
      this.#slots.map((slot) => slot.ask(question, parameters).catch(() => null)),
    )
    return answers.filter((answer) => answer !== null)
  }

  async askOne<Answer>(question: ProcessQuestion<Answer>, parameters?: unknown): Promise<Answer | null> {
    const [slot] = this.#listening()
    return (await slot?.ask(question, parameters)) ?? null
  }

  /** Returns the readiness of the gateway. It is ready if at least one worker is ready. */
  async readiness(): Promise<Readiness> {
    const reports = await Promise.all(this.#slots.map((slot) => slot.readiness(READINESS.withinMs)))
    return {
      ready: !this.#isDraining && reports.some(({ ready }) => ready),
      checks: {
        ...Object.fromEntries(reports.flatMap(({ checks }) => Object.entries(checks))),
        drain: this.#isDraining ? 'shutting down' : 'ok',
      },
    }
  }

  /** Returns the aggregated metrics of all processes. If a worker does not answer in time, its last counts are used. */
  async metricsText(): Promise<string> {
    await Promise.all(this.#slots.map((slot) => this.#count(slot)))
    return this.#totals.text(await this.#metrics.snapshot())
  }

  async #count(slot: Slot): Promise<void> {
    const snapshot = await slot.ask(METRICS).catch(() => null)
    if (snapshot !== null) this.#totals.update(slot.number, snapshot)
  }

  /**
   * Resolves when all workers have ended. Kills the remaining workers one second after the deadline. Returns their number, and the
   * number of workers that reported a failure with their exit code.
   */
  async drain(): Promise<{ readonly killed: number; readonly failed: number }> {
    this.#isDraining = true
    clearInterval(this.#watch)
    let failed = 0
    const ended = Promise.all(
      this.#slots.map(async (slot) => {
        if ((await slot.drain()) === FAILED) failed += 1
      }),
    )
    const deadlineMs = this.#config.timeouts.drain + BEYOND_DRAIN_MS
    await Promise.race([ended, wait(deadlineMs, undefined, { ref: false })])
    const remaining = this.#slots.filter(({ isRunning }) => isRunning)
    for (const slot of remaining) slot.kill()
    await Promise.race([ended, wait(BEYOND_DRAIN_MS, undefined, { ref: false })])
    return { killed: remaining.length, failed }
  }
}
