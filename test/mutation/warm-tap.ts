import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { basename, dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { globSync } from 'node:fs'
import type { Logger } from '@stryker-mutator/api/logging'
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin'
import { INSTRUMENTER_CONSTANTS } from '@stryker-mutator/api/core'
import {
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestRunner,
  type TestRunnerCapabilities,
  TestStatus,
  type SuccessTestResult,
} from '@stryker-mutator/api/test-runner'
import type { Coverage, WarmResult, WarmRun } from './warm-process.ts'

/** None that needs an engine, and none that asks for the pace of a process of its own. */
const TEST_FILES = [
  'test/{attacks,cache,handlers,operations,pipeline,policy,proxy,request}/**/*.test.ts',
  'test/gateway/!(log-levels|long-bodies|rate-limit).test.ts',
  'test/idempotency/{idempotency-*,record}.test.ts',
  'test/assembly/build.test.ts',
  'test/server/tls.test.ts',
]
const PROCESS = fileURLToPath(new URL('warm-process.ts', import.meta.url))
/** A test file that takes so many times as long as without a fault, and this long at least, is stuck. */
const STUCK_TIMES = 20
const STUCK_MS = 30_000
const FIRST_RUN_MS = 300_000

/** How often a file is run before it counts as one that fails as it is. Some ask for a pace, and the first run is the slowest. */
const FIRST_RUNS = 2
/** So many files may fail as they are, and be left out. */
const MAX_LEFT_OUT = 3

/**
 * Runs test files in a process that has loaded the code before, the files nearest to the fault first: a process of its own
 * for each file takes a second to load what the test then uses for a tenth of it. A file that fails must pass there without
 * the fault; else something may have been left behind, and both runs are made again, each in a new process.
 */
class WarmTapRunner implements TestRunner {
  static readonly inject = tokens(commonTokens.logger)
  readonly #logger: Logger
  #files: readonly string[] = []
  readonly #usualMs = new Map<string, number>()
  /** By the fault that is there from the start; null: none is, until a run names one. */
  readonly #processes = new Map<string | null, WarmProcess>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  capabilities(): TestRunnerCapabilities {
    return { reloadEnvironment: true }
  }

  async init(): Promise<void> {
    this.#files = globSync(TEST_FILES).toSorted()
  }

  /** A file that fails as it is on a busy machine is left out: it would notice each fault, and tell of none. */
  async dryRun(): Promise<DryRunResult> {
    const warm = await this.#process(null)
    const tests: SuccessTestResult[] = []
    const leftOut: string[] = []
    for (const file of this.#files) {
      const { failure, spentMs } = await firstRun(warm, file)
      this.#usualMs.set(file, spentMs)
      if (failure === null)
        tests.push({ id: file, name: file, fileName: file, timeSpentMs: spentMs, status: TestStatus.Success })
      else leftOut.push(`${file} fails as it is: ${failure}`)
      if (warm.isOver || leftOut.length > MAX_LEFT_OUT)
        return { status: DryRunStatus.Error, errorMessage: leftOut.join('\n') }
    }
    for (const line of leftOut) this.#logger.warn(`Left out: ${line}`)
    this.#files = tests.map(({ id }) => id)
    return { status: DryRunStatus.Complete, tests, mutantCoverage: await warm.coverage() }
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { testFilter = this.#files, sandboxFileName, activeMutant, hitLimit, mutantActivation } = options
    const source = relative(process.cwd(), sandboxFileName)
    const files = testFilter.toSorted((one, other) => nearness(other, source) - nearness(one, source))
    const fault: Fault = {
      mutant: activeMutant.id,
      hitLimit: hitLimit ?? null,
      atStart: mutantActivation === 'static' ? activeMutant.id : null,
    }
    try {
      if (fault.atStart !== null) await this.#process(fault.atStart)
    } catch (error) {
      if (!(error instanceof LostError)) throw error
      return killedBy(files.slice(0, 1), `the code does not load: ${error.message}`)
    }
    try {
      return await this.#runFiles(files, fault)
    } finally {
      if (fault.atStart !== null) this.#stop(fault.atStart)
    }
  }

  async dispose(): Promise<void> {
    this.#stopAll()
  }

  async #runFiles(files: readonly string[], fault: Fault): Promise<MutantRunResult> {
    for (const [at, file] of files.entries()) {
      const failure = await this.#failureOf(file, fault)
      if (failure !== null) return killedBy(files.slice(0, at + 1), failure)
    }
    return { status: MutantRunStatus.Survived, nrOfTests: files.length }
  }

  /** What fails with the fault alone. */
  async #failureOf(file: string, { mutant, hitLimit, atStart }: Fault): Promise<string | null> {
    const stuckMs = Math.max(STUCK_MS, STUCK_TIMES * (this.#usualMs.get(file) ?? 0))
    for (const isAnew of [false, true]) {
      if (isAnew) this.#stopAll()
      const faulty = await (await this.#process(atStart)).run({ file, mutant, hitLimit }, stuckMs)
      if (faulty.failure === null && !faulty.isLoop) return null
      if (isAnew) this.#stopAll()
      const usual = await (await this.#process(null)).run({ file, mutant: null, hitLimit: null }, stuckMs)
      if (usual.failure === null) return faulty.failure ?? 'a loop without end'
    }
    return null
  }

  async #process(mutant: string | null): Promise<WarmProcess> {
    const running = this.#processes.get(mutant)
    if (running !== undefined && !running.isOver) return running
    const started = await WarmProcess.start(mutant)
    this.#processes.set(mutant, started)
    return started
  }

  #stop(mutant: string | null): void {
    this.#processes.get(mutant)?.stop()
    this.#processes.delete(mutant)
  }

  #stopAll(): void {
    for (const mutant of this.#processes.keys()) this.#stop(mutant)
  }
}

interface Fault {
  readonly mutant: string
  readonly hitLimit: number | null
  /** The process that has it from the start, because it is passed while modules are loaded; null: the one for all. */
  readonly atStart: string | null
}

/** In one process, which counts what is passed. */
async function firstRun(warm: WarmProcess, file: string): Promise<WarmResult> {
  for (let runs = 1; ; runs += 1) {
    const result = await warm.run({ file, mutant: null, hitLimit: null }, FIRST_RUN_MS)
    if (result.failure === null || warm.isOver || runs === FIRST_RUNS) return result
  }
}

function killedBy(run: readonly string[], failureMessage: string): MutantRunResult {
  return { status: MutantRunStatus.Killed, killedBy: run.slice(-1), failureMessage, nrOfTests: run.length }
}

/** The process has ended by itself, or does not answer. */
class LostError extends Error {}

class WarmProcess {
  readonly #child: ChildProcess
  isOver = false

  /** @param mutant the fault that is there from the start; null: none is, until a run names one */
  static async start(mutant: string | null): Promise<WarmProcess> {
    const name = INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE
    const child = fork(PROCESS, [], {
      // tap's own test, which is for the whole process, has no end here.
      env: { ...process.env, TAP_TIMEOUT: '0', ...(mutant !== null && { [name]: mutant }) },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const warm = new WarmProcess(child)
    await warm.#next(STUCK_MS)
    return warm
  }

  private constructor(child: ChildProcess) {
    this.#child = child
    child.once('exit', () => (this.isOver = true))
  }

  /** A file that does not end within `stuckMs` has failed, and the process is over. */
  async run(run: WarmRun, stuckMs: number): Promise<WarmResult> {
    this.#child.send(run)
    try {
      return await this.#next<WarmResult>(stuckMs)
    } catch (error) {
      if (!(error instanceof LostError)) throw error
      return { failure: error.message, isLoop: false, spentMs: stuckMs }
    }
  }

  async coverage(): Promise<Coverage> {
    this.#child.send('coverage')
    return this.#next<Coverage>(STUCK_MS)
  }

  stop(): void {
    this.isOver = true
    this.#child.kill('SIGKILL')
  }

  async #next<Message>(withinMs: number): Promise<Message> {
    const ended = new AbortController()
    const lost = once(this.#child, 'exit', { signal: ended.signal }).then(() => {
      throw new LostError('the process has ended')
    })
    const late = AbortSignal.timeout(withinMs)
    try {
      return await Promise.race([this.#message<Message>(AbortSignal.any([late, ended.signal])), lost])
    } catch (error) {
      if (!late.aborted) throw error
      this.stop()
      throw new LostError(`no end within ${Math.round(withinMs / 1000)} s`)
    } finally {
      ended.abort()
      lost.catch(() => undefined)
    }
  }

  /** tap sends messages of its own to the parent of a process. */
  async #message<Message>(signal: AbortSignal): Promise<Message> {
    for (;;) {
      const [sent]: { readonly warm?: Message }[] = await once(this.#child, 'message', { signal })
      if (sent?.warm !== undefined) return sent.warm
    }
  }
}

/** How many folders of the mirrored tree they share; the file of the same name is the nearest. */
function nearness(test: string, source: string): number {
  if (basename(test, '.test.ts') === basename(source, '.ts')) return Infinity
  const folders = dirname(source).split('/').slice(1)
  const apart = dirname(test)
    .split('/')
    .slice(1)
    .findIndex((folder, at) => folder !== folders[at])
  return apart < 0 ? dirname(test).split('/').length - 1 : apart
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'warm-tap', WarmTapRunner)]
