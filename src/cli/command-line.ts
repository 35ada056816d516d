import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { build } from '../assembly/build.ts'
import type { OpenRuntime } from '../assembly/runtime.ts'
import { commandOf, readArguments, UsageError } from './arguments.ts'
import { demo } from './demo.ts'
import { EXPLAIN_OPTIONS, explainCommand } from './explain-command.ts'
import { textOfFailure } from './command-failure.ts'
import { hashPasswordCommand } from './hash-password.ts'
import { POLICY_OPTIONS, policyCommand } from './policy-command.ts'
import { createWithExplain } from './with-explain.ts'
import { SUGGEST_OPTIONS, suggestCommand } from './suggest-command.ts'
import { closestOf } from '../config/closest.ts'
import { meantText } from '../config/plain-messages.ts'
import { configJsonSchema, loadConfig } from '../config/config.ts'
import { createLogger, type Logger } from '../log.ts'
import type { BuildDryRun } from '../pipeline/explain.ts'
import { atKey, type Running, start } from '../server/start.ts'
import { keepTicksQuick } from '../server/ticks.ts'
import { versionOf } from '../server/version.ts'
import { startWorkers } from '../workers/start-workers.ts'
import { startWorker } from '../workers/worker.ts'

const USAGE = `Usage: engine-gateway [start] --config FILE   run the gateway
       engine-gateway check --config FILE     say whether a configuration is good, and what is wrong
       engine-gateway demo                    run it before a sandbox engine
       engine-gateway hash-password           read a password from standard input, print its hash
       engine-gateway explain --config FILE --user ID [--engine NAME] "METHOD /path" [--body FILE] [--json]
                                              say whether a user may do something, and which records decide it
       engine-gateway suggest [--file AUDIT] [--engine NAME] [--user ID]... [--group ID]
                                              print the fewest records that would have allowed what was refused
       engine-gateway policy test FILE --config FILE [--json]
                                              say which decisions that a file lists are made otherwise
       engine-gateway schema [--write FILE]   print the configuration's JSON schema
       engine-gateway help                    print this
       engine-gateway --version               print the version
`

const COMMANDS = ['start', 'check', 'demo', 'hash-password', 'explain', 'suggest', 'policy', 'schema', 'help']

const OPTIONS = {
  config: { type: 'string', short: 'c' },
  write: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

const areTicksKept = keepTicksQuick()

/** What main.ts gives to the commands. */
interface Program {
  /** What workers are started from. */
  readonly entry: string
  readonly open: OpenRuntime
  readonly buildDryRun: BuildDryRun
}

/** Resolves with the exit code. @throws what `runCommandLine` writes with `textOfFailure`, for exit code 1 */
export async function runCommand(argv: readonly string[], program: Program): Promise<number> {
  const { command, args } = commandOf(argv, {
    ...OPTIONS,
    ...EXPLAIN_OPTIONS,
    ...SUGGEST_OPTIONS,
    ...POLICY_OPTIONS,
  })
  const withExplain = createWithExplain(program.buildDryRun)
  if (command === 'explain') return explainCommand(args, process, withExplain)
  if (command === 'policy') return policyCommand(args, process, withExplain)
  if (command === 'suggest') return suggestCommand(args, process)
  try {
    return await run(command ?? 'start', args, program)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${USAGE}\n${error.message}\n`)
    return 2
  }
}

async function run(command: string, args: readonly string[], program: Program): Promise<number> {
  const { values, positionals } = readArguments(() =>
    parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS }),
  )
  const { config, write, help, version } = values
  const asked = answerAbout({ help: help === true || command === 'help', version: version === true })
  if (asked !== null) return say(asked)
  // It says itself what it takes, without repeating what may be a password.
  if (command === 'hash-password') return hashPasswordCommand(positionals, process)
  const [extra] = positionals
  if (extra !== undefined) throw new UsageError(`${command} takes no '${extra}'`)
  if (write !== undefined && command !== 'schema') throw new UsageError(`${command} takes no --write`)
  switch (command) {
    case 'start':
    case 'check':
      return runWith(config, command, program)
    case 'worker':
      return runWorker(program)
    case 'demo':
      return runDemo(program)
    case 'schema':
      return writeSchema(write)
    default:
      throw new UsageError(`There is no command '${command}'${meantText(closestOf(command, COMMANDS))}`)
  }
}

/** What is asked of the program itself; null: nothing. */
function answerAbout({
  help,
  version,
}: {
  readonly help: boolean
  readonly version: boolean
}): string | null {
  if (help) return USAGE
  return version ? `${versionOf()}\n` : null
}

async function runWith(
  file: string | undefined,
  command: 'start' | 'check',
  { entry, open }: Program,
): Promise<number> {
  if (file === undefined) throw new UsageError('A configuration is needed: --config FILE')
  const config = loadConfig(file)
  const log = createLogger({ level: config.log.level })
  if (command === 'start') {
    const { workers } = config
    const running = await (workers === 1
      ? start({ config, log, open, file })
      : atKey('admin', startWorkers({ config, log, file, entry, open })))
    return runUntilSignal(running, log)
  }
  const { close, warnings } = await build({ config, log, version: versionOf() })
  await close()
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`)
  return say(`${file} is good\n`)
}

async function runDemo({ open }: Program): Promise<number> {
  const log = createLogger({ level: 'warn' })
  return runUntilSignal(await demo((config) => start({ config, log, open, file: null })), log)
}

type Draining = Pick<Running, 'drain'>

function runUntilSignal({ drain, reload }: Draining & Pick<Running, 'reload'>, log: Logger): Promise<number> {
  process.on('SIGHUP', () => void reload())
  return runUntil(signalled(), { drain }, log)
}

/** Drains then, or at an error that nobody has caught: the exit code says which. */
async function runUntil(told: Promise<void>, { drain }: Draining, log: Logger): Promise<number> {
  void areTicksKept.then((areKept) => {
    if (!areKept) log.debug('this Node runs ticks on another object: none is kept to keep them quick')
  })
  const unexpected = watchUnexpectedErrors(log)
  await Promise.race([told, unexpected.first])
  await drain()
  return unexpected.hasAny() ? 1 : 0
}

/** What the primary starts; for nobody else. */
async function runWorker({ open }: Program): Promise<number> {
  if (process.send === undefined) throw new UsageError("There is no command 'worker'")
  const { drainRequested, drain, log } = await startWorker(process, open)
  // A signal to the whole group comes here too: to read the configuration anew is the primary's.
  process.on('SIGHUP', () => undefined)
  return runUntil(Promise.race([drainRequested, signalled()]), { drain }, log)
}

/** npm and a terminal send the same signal twice. A later Ctrl-C is a person who does not want to wait. */
const IMPATIENT_MS = 1000
/** 128 and the number of SIGINT, as shells say it. */
const INTERRUPTED = 130

/** Resolves at the first signal to end. Later ones do not cut the drain short, but for a later Ctrl-C. */
function signalled(): Promise<void> {
  return new Promise<void>((resolve) => {
    let firstAtMs = Infinity
    const end = () => {
      firstAtMs = Math.min(firstAtMs, performance.now())
      resolve()
    }
    process.on('SIGTERM', end).on('SIGINT', () => {
      if (performance.now() - firstAtMs > IMPATIENT_MS) process.exit(INTERRUPTED)
      end()
    })
  })
}

/** A defect may strike again with every request of a drain. */
const MOST_UNEXPECTED_LINES = 10

/**
 * Hears of errors that were thrown or rejected and that nobody has caught, which else end the process at once, with all that is
 * under way. What they have left broken nobody knows: the process is to end all the same. (close-with-grace does not do: at a
 * second such error it exits in the middle of the drain, and its time is fixed before the configuration is read.)
 */
function watchUnexpectedErrors(log: Logger) {
  let count = 0
  const first = new Promise<void>((resolve) => {
    // A rejection comes here too, as nobody listens to `unhandledRejection`.
    process.on('uncaughtException', (err, origin) => {
      count += 1
      if (count <= MOST_UNEXPECTED_LINES)
        log.fatal(
          { pid: process.pid, origin, err },
          'nobody has caught this error: the process drains and ends',
        )
      resolve()
    })
  })
  return { first, hasAny: () => count > 0 }
}

function writeSchema(file: string | undefined): number {
  const text = `${JSON.stringify(configJsonSchema(), null, 2)}\n`
  if (file === undefined) return say(text)
  writeFileSync(file, text)
  return 0
}

function say(text: string): number {
  process.stdout.write(text)
  return 0
}

/** Who reads no further (`| head -1`) has enough: the command ends as it would have. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

/** Runs the command that the arguments name, and ends the process with its exit code. */
export function runCommandLine(argv: readonly string[], program: Program): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endQuietly)
  runCommand(argv, program).then(
    (code) => {
      process.exitCode = code
      // What still keeps the process alive after a drain (a client that never reads) is not waited for.
      setTimeout(() => process.exit(code), 500).unref()
    },
    (error: unknown) => {
      process.stderr.write(textOfFailure(error))
      process.exit(1)
    },
  )
}
