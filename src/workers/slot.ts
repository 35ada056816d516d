import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Readiness } from '../metrics/admin-listener.ts'
import { type ProcessQuestion, READINESS } from '../server/questions.ts'
import { createBackOff } from './back-off.ts'
import { CallError } from './calls.ts'
import { problemsIn } from './worker-messages.ts'
import type { ProcessExit, Fork, WorkerProcess } from './worker-process.ts'

interface SlotOptions {
  readonly number: number
  readonly fork: Fork
  /** The configuration in force. */
  readonly config: () => Config
  readonly onListening: (worker: WorkerProcess) => void
  readonly onEnd: (reason: EndReason) => void
  readonly log: Logger
}

/** Why a worker ended. `silent` means that the primary killed it, for example because it did not answer. */
export type EndReason = 'exit' | 'signal' | 'silent'

interface SlotWorker {
  readonly process: WorkerProcess
  readonly startedAt: number
  /** The configuration of the worker. Null if the worker has not requested one yet. */
  config: Config | null
  isListening: boolean
  isSilent: boolean
  lastReport: { readonly readiness: Readiness; readonly at: number } | null
}

/** The timeout of a replacement. It is longer than the build of a runtime and the first read of users and records take together. */
const REPLACE_MS = 30_000
/** The timeout of a start. With a twentieth of a CPU, a start takes half a minute, and several workers share the CPU. */
const START_MS = 300_000
/** A worker that does not answer for this time is killed. No request blocks the event loop for this long. */
const SILENT_MS = 30_000
/** How long a readiness report is valid. If a worker is too busy to answer, its last report is used. */
const REPORT_VALID_MS = 10_000

/** Keeps one worker running. When the worker ends, the slot starts another one. */
export class Slot {
  readonly number: number
  readonly #options: SlotOptions
  readonly #backOff = createBackOff()
  readonly #stopping = new AbortController()
  #current: SlotWorker | null = null
  #nextInMs = 0
  #isWatching = false

  constructor(options: SlotOptions) {
    this.#options = options
    this.number = options.number
  }

  get isListening(): boolean {
    return this.#current?.isListening ?? false
  }

  /** Whether a worker runs. It need not listen yet. */
  get isRunning(): boolean {
    return this.#current !== null
  }

  /** Starts a worker and resolves when it listens. @throws Error if it ends earlier; no other worker is started */
  async start(): Promise<void> {
    const first = this.#startWorker()
    await first.process.listening
    void this.#keepRunning(first)
  }

  /** Starts a worker without waiting for it, and keeps it running. */
  startInBackground(): void {
    void this.#keepRunning(this.#startWorker())
  }

  async #keepRunning(first: SlotWorker): Promise<void> {
    let current = first
    for (;;) {
      const ending = await current.process.ended
      this.#current = null
      if (this.#stopping.signal.aborted) return
      this.#nextInMs = this.#backOff(performance.now() - current.startedAt)
      this.#logEnd(current, ending)
      await wait(this.#nextInMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
      if (this.#stopping.signal.aborted) return
      current = this.#startWorker()
    }
  }

  #logEnd({ process: { pid }, isSilent }: SlotWorker, { code, signal }: ProcessExit): void {
    const { log, onEnd, number: worker } = this.#options
    const inMs = this.#nextInMs
    log.error({ worker, pid, code, signal, inMs }, 'worker exited; restarting')
    onEnd(isSilent ? 'silent' : signal === null ? 'exit' : 'signal')
  }

  #startWorker(): SlotWorker {
    const { config, fork, onListening, log, number: worker } = this.#options
    const process = fork(() => (current.config = config()))
    const startedAt = performance.now()
    const current: SlotWorker = {
      process,
      startedAt,
      config: null,
      isListening: false,
      isSilent: false,
      lastReport: null,
    }
    this.#current = current
    const startTimer = setTimeout(() => this.#kill(current, `did not listen within ${START_MS} ms`), START_MS)
    void process.ended.then(() => clearTimeout(startTimer))
    const begin = () => {
      clearTimeout(startTimer)
      current.isListening = true
      log.info({ worker, pid: process.pid }, 'worker is listening')
      onListening(process)
      void this.applyCurrentConfig()
    }
    process.listening.then(begin, () => undefined)
    return current
  }

  #kill(current: SlotWorker, why: string): void {
    const { log, number: worker } = this.#options
    current.isSilent = true
    log.error({ worker, pid: current.process.pid, why }, 'killing worker')
    current.process.kill()
  }

  /** Applies a configuration to the worker and returns the problems. A worker that does not listen yet gets it when it starts. */
  async replace(config: Config): Promise<readonly string[]> {
    const current = this.#current
    if (current === null || !current.isListening) return []
    try {
      const problems = problemsIn(await current.process.ask('replace', config, REPLACE_MS))
      if (problems.length === 0) current.config = config
      return problems
    } catch (error) {
      if (this.#current !== current) return []
      // It is unknown which configuration the worker uses.
      this.#kill(current, messageOf(error))
      return [`(worker ${this.number}): ${messageOf(error)}`]
    }
  }

  /** Applies the configuration in force if the worker uses a different one. Kills the worker if this fails. */
  async applyCurrentConfig(): Promise<void> {
    const current = this.#current
    const config = this.#options.config()
    if (current === null || !current.isListening || current.config === config) return
    const problems = await this.replace(config)
    if (problems.length > 0 && this.#current === current) this.#kill(current, problems.join('; '))
  }

  /** Asks the worker for its readiness. Kills it if it does not answer, because its process still looks alive to the system. */
  async watch(): Promise<void> {
    const current = this.#current
    if (current === null || !current.isListening || this.#isWatching) return
    this.#isWatching = true
    try {
      await this.#askReadiness(current, SILENT_MS)
    } catch (error) {
      if (error instanceof CallError && this.#current === current) this.#kill(current, error.message)
    }
    this.#isWatching = false
  }

  /** Returns the readiness of the worker. Uses its last report if it does not answer in time. */
  async readiness(withinMs: number): Promise<Readiness> {
    const current = this.#current
    if (current === null) return this.#unready(`exited; restarts in ${this.#nextInMs} ms`)
    if (!current.isListening) return this.#unready('is not listening yet')
    await this.#askReadiness(current, withinMs).catch(() => undefined)
    const { lastReport } = current
    if (lastReport === null || performance.now() - lastReport.at > REPORT_VALID_MS)
      return this.#unready('does not respond')
    const { ready, checks } = lastReport.readiness
    const named = Object.entries(checks).map(([name, state]) => [`worker ${this.number}: ${name}`, state])
    return { ready, checks: Object.fromEntries(named) }
  }

  #unready(state: string): Readiness {
    return { ready: false, checks: { [`worker ${this.number}:`]: state } }
  }

  async #askReadiness(current: SlotWorker, withinMs: number): Promise<void> {
    const readiness = await current.process.ask(READINESS.name, null, withinMs)
    if (READINESS.isAnswer(readiness)) current.lastReport = { readiness, at: performance.now() }
  }

  /**
   * Returns the worker's answer to a question. Returns null if the worker does not listen yet, or if the answer cannot be read.
   * @throws Error if the worker fails; CallError if it does not answer in time
   */
  async ask<Answer>(question: ProcessQuestion<Answer>, parameters: unknown = null): Promise<Answer | null> {
    if (!this.isListening) return null
    const answer = await this.#current?.process.ask(question.name, parameters, question.withinMs)
    return question.isAnswer(answer) ? answer : null
  }

  /** Drains the worker. The slot starts no other worker. Returns the exit code of the worker. Null if it has none. */
  async drain(): Promise<number | null> {
    this.#stopping.abort()
    const { process, isListening } = this.#current ?? {}
    if (isListening === true) process?.drain()
    else process?.terminate()
    await process?.closed
    return (await process?.ended)?.code ?? null
  }

  kill(): void {
    this.#current?.process.kill()
  }
}
