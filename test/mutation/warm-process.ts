import { glob } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Test, type TestOpts } from 'tap'
import config from './stryker.config.json' with { type: 'json' }

// Runs test files one after the other in this process, each as if it were the first. The tested code is loaded once. The test file is
// loaded again for each run, and its import of `tap` returns a new test instead of the global one, which ends with the process.

/** One run of a test file, as the parent sends it. */
export interface WarmRun {
  readonly file: string
  /** The fault that is active during the run. Null for a run without a fault. */
  readonly mutant: string | null
  /** How often the code of the fault may be executed. More executions are an endless loop. Null for no limit. */
  readonly hitLimit: number | null
}

/** The result of a run. */
export interface WarmResult {
  /** The first failure. Null if the file passes. */
  readonly failure: string | null
  readonly isLoop: boolean
  readonly spentMs: number
}

/** How often the code of each fault was executed, while modules were loaded and by each test file. */
export interface Coverage {
  readonly static: Record<string, number>
  readonly perTest: Record<string, Record<string, number>>
}

interface Instrumented {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: Coverage
}

declare global {
  var __stryker__: Instrumented | undefined
  var warmTest: Test
}

const stryker: Instrumented = (globalThis.__stryker__ ??= {})
const TAP = 'warm-tap:'
/** The module that a test file in this process gets when it imports `tap`. */
const TAP_SOURCE = 'const t = globalThis.warmTest; export default t; export const test = t.test.bind(t)'

registerHooks({
  resolve(specifier, context, next) {
    const run = new URL(context.parentURL ?? 'file:///').searchParams.get('run')
    if (specifier !== 'tap' || run === null) return next(specifier, context)
    return { url: `${TAP}${run}`, format: 'module', shortCircuit: true }
  },
  load(url, context, next) {
    if (!url.startsWith(TAP)) return next(url, context)
    return { format: 'module', source: TAP_SOURCE, shortCircuit: true }
  },
})

let runs = 0
let stray: string | null = null
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error: unknown) => (stray ??= String(error)))

async function runTest({ file, mutant, hitLimit }: WarmRun): Promise<WarmResult> {
  runs += 1
  stray = null
  const start = performance.now()
  Object.assign(stryker, {
    activeMutant: mutant ?? undefined,
    currentTestId: file,
    hitCount: hitLimit === null ? undefined : 0,
    hitLimit: hitLimit ?? undefined,
  })
  const failure = (await failureOf(file)) ?? stray
  const isLoop = (stryker.hitCount ?? 0) > (hitLimit ?? Number.POSITIVE_INFINITY)
  Object.assign(stryker, { activeMutant: undefined, currentTestId: undefined, hitCount: undefined })
  return { failure, isLoop, spentMs: performance.now() - start }
}

function failureOf(file: string): Promise<string | null> {
  const failures: string[] = []
  const options: TestOpts = {
    name: file,
    cb: () => import(`${pathToFileURL(resolve(file)).href}?run=${runs}`),
  }
  const test = new Test(options)
  globalThis.warmTest = test
  test.parser.on('fail', ({ name }) => failures.push(name))
  return new Promise((settle) => {
    test.runMain(() => settle(test.passing() ? null : (failures[0] ?? 'it does not pass')))
    test.resume()
  })
}

// Loads all code before the first run, because code that is executed while modules are loaded belongs to no test file.
for await (const file of glob(config.mutate)) await import(pathToFileURL(resolve(file)).href)
const send = (warm: WarmResult | Coverage | 'ready') => process.send?.({ warm })
process.on('message', (message: WarmRun | 'coverage') => {
  if (message === 'coverage') send(stryker.mutantCoverage ?? { static: {}, perTest: {} })
  else void runTest(message).then(send)
})
process.once('disconnect', () => process.exit())
send('ready')
