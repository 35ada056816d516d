import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { isSnapshot, type Snapshot } from '../metrics/aggregate.ts'
import type { Readiness } from '../metrics/admin-listener.ts'
import { createBackOff } from './back-off.ts'
import { NoAnswer } from './calls.ts'
import { isReadiness, problemsIn } from './worker-messages.ts'
import type { Ending, Fork, WorkerProcess } from './worker-process.ts'

interface SlotOptions {
  readonly number: number
  readonly fork: Fork
  /** In force. */
  readonly config: () => Config
  readonly onEnd: (reason: EndReason) => void
  readonly log: Logger
}

/** `silent`: it did not answer any more, and was killed. */
export type EndReason = 'exit' | 'signal' | 'silent'

interface SlotWorker {
  readonly process: WorkerProcess
  readonly bornAt: number
  /** What it serves by; null: it has not asked yet. */
  config: Config | null
  isListening: boolean
  isSilent: boolean
  /** What it said last of itself. */
  said: { readonly readiness: Readiness; readonly at: number } | null
}

/** More than an engine's first reading takes, and what is built before. */
const REPLACE_MS = 30_000
/** Before it listens: with a twentieth of a processor a start takes half a minute, and several workers share that. */
const START_MS = 300_000
/** No request holds the event loop for so long. */
const SILENT_MS = 30_000
/** A worker that is busy for a moment counts by what it said last. */
const SAID_COUNTS_MS = 10_000

/** The place of one worker: when one ends, another takes it. */
export class Slot {
  readonly number: number
  readonly #options: SlotOptions
  readonly #backOff = createBackOff()
  readonly #ending = new AbortController()
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

  /** A worker is there, whether or not it listens. */
  get isOccupied(): boolean {
    return this.#current !== null
  }

  /** Resolves to the public address. @throws Error when the first worker ends before it listens: no other follows */
  async start(): Promise<string> {
    const first = this.#open()
    const address = await first.process.listening
    void this.#keep(first)
    return address
  }

  /** Starts what goes on to be started. */
  begin(): void {
    void this.#keep(this.#open())
  }

  async #keep(first: SlotWorker): Promise<void> {
    let current = first
    for (;;) {
      const ending = await current.process.ended
      this.#current = null
      if (this.#ending.signal.aborted) return
      this.#nextInMs = this.#backOff(performance.now() - current.bornAt)
      this.#tell(current, ending)
      await wait(this.#nextInMs, undefined, { signal: this.#ending.signal }).catch(() => undefined)
      if (this.#ending.signal.aborted) return
      current = this.#open()
    }
  }

  #tell({ process: { pid }, isSilent }: SlotWorker, { code, signal }: Ending): void {
    const { log, onEnd, number: worker } = this.#options
    const inMs = this.#nextInMs
    log.error({ worker, pid, code, signal, inMs }, 'a worker has ended, and is started again')
    onEnd(isSilent ? 'silent' : signal === null ? 'exit' : 'signal')
  }

  #open(): SlotWorker {
    const { config, fork, log, number: worker } = this.#options
    const process = fork(() => (current.config = config()))
    const bornAt = performance.now()
    const current: SlotWorker = {
      process,
      bornAt,
      config: null,
      isListening: false,
      isSilent: false,
      said: null,
    }
    this.#current = current
    const late = setTimeout(() => this.#kill(current, 'does not come to listen'), START_MS)
    void process.ended.then(() => clearTimeout(late))
    const onListening = () => {
      clearTimeout(late)
      current.isListening = true
      log.info({ worker, pid: process.pid }, 'a worker listens')
      void this.keepUp()
    }
    process.listening.then(onListening, () => undefined)
    return current
  }

  #kill(current: SlotWorker, why: string): void {
    const { log, number: worker } = this.#options
    current.isSilent = true
    log.error({ worker, pid: current.process.pid, why }, 'a worker is killed')
    current.process.kill()
  }

  /** Puts a configuration in force there; what is wrong with it. A worker that is not there takes it when it comes. */
  async replace(config: Config): Promise<readonly string[]> {
    const current = this.#current
    if (current === null || !current.isListening) return []
    try {
      const problems = problemsIn(await current.process.ask('replace', config, REPLACE_MS))
      if (problems.length === 0) current.config = config
      return problems
    } catch (error) {
      if (this.#current !== current) return []
      // Nobody knows what it serves by.
      this.#kill(current, messageOf(error))
      return [`(worker ${this.number}): ${messageOf(error)}`]
    }
  }

  /** What serves by another configuration than the one in force takes that, or ends. */
  async keepUp(): Promise<void> {
    const current = this.#current
    const config = this.#options.config()
    if (current === null || !current.isListening || current.config === config) return
    const problems = await this.replace(config)
    if (problems.length > 0 && this.#current === current) this.#kill(current, problems.join('; '))
  }

  /** Asks it how it is. What does not answer at all is killed: to those who look from outside it would seem alive. */
  async watch(): Promise<void> {
    const current = this.#current
    if (current === null || !current.isListening || this.#isWatching) return
    this.#isWatching = true
    try {
      await this.#ask(current, SILENT_MS)
    } catch (error) {
      if (error instanceof NoAnswer && this.#current === current) this.#kill(current, error.message)
    }
    this.#isWatching = false
  }

  async readiness(withinMs: number): Promise<Readiness> {
    const current = this.#current
    if (current === null) return this.#unready(`has ended, and is started again in ${this.#nextInMs} ms`)
    if (!current.isListening) return this.#unready('does not listen yet')
    await this.#ask(current, withinMs).catch(() => undefined)
    const { said } = current
    if (said === null || performance.now() - said.at > SAID_COUNTS_MS) return this.#unready('does not answer')
    const { ready, checks } = said.readiness
    const named = Object.entries(checks).map(([name, word]) => [`worker ${this.number}: ${name}`, word])
    return { ready, checks: Object.fromEntries(named) }
  }

  #unready(word: string): Readiness {
    return { ready: false, checks: { [`worker ${this.number}:`]: word } }
  }

  async #ask(current: SlotWorker, withinMs: number): Promise<void> {
    const readiness = await current.process.ask('readiness', null, withinMs)
    if (isReadiness(readiness)) current.said = { readiness, at: performance.now() }
  }

  /** Null: it has not counted yet, or does not answer in time. */
  async snapshot(withinMs: number): Promise<Snapshot | null> {
    if (!this.isListening) return null
    const snapshot = await this.#current?.process.ask('metrics', null, withinMs).catch(() => null)
    return isSnapshot(snapshot) ? snapshot : null
  }

  /** @throws NoAnswer */
  async explain(question: unknown, withinMs: number): Promise<unknown> {
    return this.#current?.process.ask('explain', question, withinMs)
  }

  /** Ends the worker after what is under way there; no other takes its place. */
  async drain(): Promise<void> {
    this.#ending.abort()
    const { process, isListening } = this.#current ?? {}
    if (isListening === true) process?.drain()
    else process?.terminate()
    await process?.closed
  }

  kill(): void {
    this.#current?.process.kill()
  }
}
