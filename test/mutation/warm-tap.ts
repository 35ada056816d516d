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

/** Test files that need no engine, and no separate process to be fast enough for their time limits. */
const TEST_FILES = [
  'test/{attacks,cache,handlers,lists,operations,pipeline,policy,proxy,request}/**/*.test.ts',
  'test/gateway/*/!(log-levels|long-bodies|rate-limit).test.ts',
  'test/idempotency/{idempotency-*,record}.test.ts',
  'test/assembly/build.test.ts',
  'test/server/tls.test.ts',
]
const PROCESS = fileURLToPath(new URL('warm-process.ts', import.meta.url))
/** A test file is stuck if it takes longer than both `STUCK_MS` and this multiple of its time without a fault. */
const STUCK_TIMES = 20
const STUCK_MS = 30_000
const FIRST_RUN_MS = 300_000

/** How often a file runs before it counts as failing without a fault. Some files depend on speed, and the first run is the slowest. */
const FIRST_RUNS = 2
/** The maximum number of files that are left out because they fail without a fault. */
const MAX_LEFT_OUT = 3

/**
 * Runs test files in a process that has already loaded the code. The files nearest to the fault run first. A separate process for each
 * file would take a second to load the code, and the test needs only a tenth of a second. If a file fails, it must pass in the same
 * process without the fault. Otherwise, an earlier run may have left state behind, and both runs are repeated, each in a new process.
 */
class WarmTapRunner implements TestRunner {
  static readonly inject = tokens(commonTokens.logger)
  readonly #logger: Logger
  #files: readonly string[] = []
  readonly #usualMs = new Map<string, number>()
  /** Processes by the fault that is active from their start. The key is null for the process in which each run sets its fault. */
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

  /** Leaves out a file that fails without a fault on a busy machine. It would fail with every fault and prove nothing. */
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

  /** Returns the failure that occurs only with the fault. Returns null if the file passes with the fault or fails without it. */
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
  /** Set if a process must start with the fault, because its code is executed while modules are loaded. Null for the shared process. */
  readonly atStart: string | null
}

/** Runs a file without a fault in a process that counts the executed code. Repeats the run if it fails. */
async function firstRun(warm: WarmProcess, file: string): Promise<WarmResult> {
  for (let runs = 1; ; runs += 1) {
    const result = await warm.run({ file, mutant: null, hitLimit: null }, FIRST_RUN_MS)
    if (result.failure === null || warm.isOver || runs === FIRST_RUNS) return result
  }
}

function killedBy(run: readonly string[], failureMessage: string): MutantRunResult {
  return { status: MutantRunStatus.Killed, killedBy: run.slice(-1), failureMessage, nrOfTests: run.length }
}

/** The error if the process has ended unexpectedly or does not answer. */
class LostError extends Error {}

class WarmProcess {
  readonly #child: ChildProcess
  isOver = false

  /** Starts a process. @param mutant the fault that is active from the start, or null if each run sets its fault */
  static async start(mutant: string | null): Promise<WarmProcess> {
    const name = INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE
    const child = fork(PROCESS, [], {
      // Disables the timeout of tap's global test, because this test lasts as long as the process.
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

  /** Runs a test file. A file that does not end within `stuckMs` has failed, and the process is killed. */
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

  /** Resolves to the next message of the process, without the messages that tap sends to a parent process. */
  async #message<Message>(signal: AbortSignal): Promise<Message> {
    for (;;) {
      const [sent]: { readonly warm?: Message }[] = await once(this.#child, 'message', { signal })
      if (sent?.warm !== undefined) return sent.warm
    }
  }
}

/** Returns how many folders of the mirrored tree a test and a source share. Infinity if both have the same name. */
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
