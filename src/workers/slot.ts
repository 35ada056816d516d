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
  readonly onEnd: (reason: Reason) => void
  readonly log: Logger
}

/** `silent`: it did not answer any more, and was killed. */
export type Reason = 'exit' | 'signal' | 'silent'

interface Occupant {
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
  #occupant: Occupant | null = null
  #nextInMs = 0
  #isWatching = false

  constructor(options: SlotOptions) {
    this.#options = options
    this.number = options.number
  }

  get isListening(): boolean {
    return this.#occupant?.isListening ?? false
  }

  /** A worker is there, whether or not it listens. */
  get isOccupied(): boolean {
    return this.#occupant !== null
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

  async #keep(first: Occupant): Promise<void> {
    let occupant = first
    for (;;) {
      const ending = await occupant.process.ended
      this.#occupant = null
      if (this.#ending.signal.aborted) return
      this.#nextInMs = this.#backOff(performance.now() - occupant.bornAt)
      this.#tell(occupant, ending)
      await wait(this.#nextInMs, undefined, { signal: this.#ending.signal }).catch(() => undefined)
      if (this.#ending.signal.aborted) return
      occupant = this.#open()
    }
  }

  #tell({ process: { pid }, isSilent }: Occupant, { code, signal }: Ending): void {
    const { log, onEnd, number: worker } = this.#options
    const inMs = this.#nextInMs
    log.error({ worker, pid, code, signal, inMs }, 'a worker has ended, and is started again')
    onEnd(isSilent ? 'silent' : signal === null ? 'exit' : 'signal')
  }

  #open(): Occupant {
    const { config, fork, log, number: worker } = this.#options
    const process = fork(() => (occupant.config = config()))
    const bornAt = performance.now()
    const occupant: Occupant = {
      process,
      bornAt,
      config: null,
      isListening: false,
      isSilent: false,
      said: null,
    }
    this.#occupant = occupant
    const late = setTimeout(() => this.#kill(occupant, 'does not come to listen'), START_MS)
    void process.ended.then(() => clearTimeout(late))
    const onListening = () => {
      clearTimeout(late)
      occupant.isListening = true
      log.info({ worker, pid: process.pid }, 'a worker listens')
      void this.keepUp()
    }
    process.listening.then(onListening, () => undefined)
    return occupant
  }

  #kill(occupant: Occupant, why: string): void {
    const { log, number: worker } = this.#options
    occupant.isSilent = true
    log.error({ worker, pid: occupant.process.pid, why }, 'a worker is killed')
    occupant.process.kill()
  }

  /** Puts a configuration in force there; what is wrong with it. A worker that is not there takes it when it comes. */
  async replace(config: Config): Promise<readonly string[]> {
    const occupant = this.#occupant
    if (occupant === null || !occupant.isListening) return []
    try {
      const problems = problemsIn(await occupant.process.ask('replace', config, REPLACE_MS))
      if (problems.length === 0) occupant.config = config
      return problems
    } catch (error) {
      if (this.#occupant !== occupant) return []
      // Nobody knows what it serves by.
      this.#kill(occupant, messageOf(error))
      return [`(worker ${this.number}): ${messageOf(error)}`]
    }
  }

  /** What serves by another configuration than the one in force takes that, or ends. */
  async keepUp(): Promise<void> {
    const occupant = this.#occupant
    const config = this.#options.config()
    if (occupant === null || !occupant.isListening || occupant.config === config) return
    const problems = await this.replace(config)
    if (problems.length > 0 && this.#occupant === occupant) this.#kill(occupant, problems.join('; '))
  }

  /** Asks it how it is. What does not answer at all is killed: to those who look from outside it would seem alive. */
  async watch(): Promise<void> {
    const occupant = this.#occupant
    if (occupant === null || !occupant.isListening || this.#isWatching) return
    this.#isWatching = true
    try {
      await this.#ask(occupant, SILENT_MS)
    } catch (error) {
      if (error instanceof NoAnswer && this.#occupant === occupant) this.#kill(occupant, error.message)
    }
    this.#isWatching = false
  }

  async readiness(withinMs: number): Promise<Readiness> {
    const occupant = this.#occupant
    if (occupant === null) return this.#unready(`has ended, and is started again in ${this.#nextInMs} ms`)
    if (!occupant.isListening) return this.#unready('does not listen yet')
    await this.#ask(occupant, withinMs).catch(() => undefined)
    const { said } = occupant
    if (said === null || performance.now() - said.at > SAID_COUNTS_MS) return this.#unready('does not answer')
    const { ready, checks } = said.readiness
    const named = Object.entries(checks).map(([name, word]) => [`worker ${this.number}: ${name}`, word])
    return { ready, checks: Object.fromEntries(named) }
  }

  #unready(word: string): Readiness {
    return { ready: false, checks: { [`worker ${this.number}:`]: word } }
  }

  async #ask(occupant: Occupant, withinMs: number): Promise<void> {
    const readiness = await occupant.process.ask('readiness', null, withinMs)
    if (isReadiness(readiness)) occupant.said = { readiness, at: performance.now() }
  }

  /** Null: it has not counted yet, or does not answer in time. */
  async snapshot(withinMs: number): Promise<Snapshot | null> {
    if (!this.isListening) return null
    const snapshot = await this.#occupant?.process.ask('metrics', null, withinMs).catch(() => null)
    return isSnapshot(snapshot) ? snapshot : null
  }

  /** @throws NoAnswer */
  async explain(question: unknown, withinMs: number): Promise<unknown> {
    return this.#occupant?.process.ask('explain', question, withinMs)
  }

  /** Ends the worker after what is under way there; no other takes its place. */
  async drain(): Promise<void> {
    this.#ending.abort()
    const { process, isListening } = this.#occupant ?? {}
    if (isListening === true) process?.drain()
    else process?.terminate()
    await process?.closed
  }

  kill(): void {
    this.#occupant?.process.kill()
  }
}
