import { setTimeout as wait } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { ConnectionCheck } from '../assembly/runtime.ts'
import { ConfigError, loadConfig } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import { createLogger, openDestination, withoutSecrets } from '../log.ts'
import { counted } from '../pipeline/plural.ts'
import { versionOf } from '../server/version.ts'
import {
  type CommandContext,
  type CommandDependencies,
  CONFIG_OPTION,
  FORMAT_OPTION,
  notesText,
} from './command.ts'
import { linesText, printResponse, tableLines } from './output.ts'

const MAX_TIMEOUT_S = 60
/** Number of checks that run at once, so that unreachable nodes reach their timeouts together. */
const AT_ONCE = 32
/** How long closing may take if no connection was checked. */
const MAX_CLOSE_MS = 5000

export function addCheckCommand(program: Command, context: CommandContext): void {
  program
    .command('check')
    .description('check a configuration, and print its problems')
    .addOption(CONFIG_OPTION)
    .option('--connect', 'also check that nodes, sources and Redis respond')
    .addOption(
      new Option('--timeout <SECONDS>', 'maximum time for each connection')
        .default(5000, '5')
        .argParser(timeoutMsOf),
    )
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exits(async ({ config: file, connect, timeout: withinMs, format }) => {
        const checked = await check(file, connect === true ? withinMs : null, context).catch(
          (error: unknown) => {
            // In text format, every command prints the problems of such a file in the same way.
            if (format === 'text' || !(error instanceof ConfigError)) throw error
            return { problems: error.problems, warnings: [], connections: null }
          },
        )
        const { problems, warnings, connections } = checked
        if (format === 'text')
          for (const warning of warnings) context.stderr.write(linesText([`warning: ${warning}`]))
        printResponse(context, format, {
          text: () => formatCheckReport(file, connections),
          json: () => ({ file, good: problems.length === 0, ...checked }),
        })
        return problems.length === 0 && (connections ?? []).every(({ ok }) => ok) ? 0 : 1
      }),
    )
}

const NOTES = {
  about: `With --connect, the command also connects to the systems in the configuration. It reads the engines, the
version and the date format of each node, with the gateway's own credentials. It sends one probe to each
node of an application in passthrough. It reads one user and one record from engines that are a source of
users or records, and the keys of each token issuer. It connects to Redis. It changes nothing. It does not
connect to applications without a probe, or to the collector of traces.`,
  examples: [
    'engine-gateway check --config gateway.yaml',
    'engine-gateway check --config gateway.yaml --connect --format json',
  ],
  exitCodes: [
    [0, 'the configuration is valid, and with --connect every connection succeeded'],
    [1, 'the configuration is invalid, and every problem was printed with its path; or a connection failed'],
    [2, 'invalid arguments'],
  ],
} as const

interface CheckReport {
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  /** Null if no connection was checked. */
  readonly connections: readonly ConnectionResult[] | null
}

interface ConnectionResult extends Pick<ConnectionCheck, 'what' | 'address'> {
  readonly ok: boolean
  /** How the remote system describes itself, or why it cannot be used. */
  readonly detail: string
  readonly ms: number
}

/** Parses the option `--timeout`. @throws InvalidArgumentError */
function timeoutMsOf(text: string): number {
  const seconds = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || seconds <= 0 || seconds > MAX_TIMEOUT_S)
    throw new InvalidArgumentError(`It takes seconds up to ${MAX_TIMEOUT_S}.`)
  return seconds * 1000
}

/**
 * Checks a configuration. @param withinMs timeout for each connection; null if connections are not checked. @throws ConfigError
 */
async function check(
  file: string,
  withinMs: number | null,
  { build }: CommandDependencies,
): Promise<CheckReport> {
  const config = loadConfig(file)
  const log = createLogger({ level: 'error', destination: openDestination({ to: 2 }) })
  const { close, questions } = await build({ config, log, version: versionOf() })
  const results = withinMs === null ? null : await checkConnections(questions.connections(), withinMs)
  // A request that was abandoned still runs until its own timeout.
  await within(withinMs ?? MAX_CLOSE_MS, close()).catch(() => undefined)
  return { problems: [], warnings: questions.warnings, connections: results }
}

/** Runs all checks. The results are in the order of the checks. */
async function checkConnections(
  checks: readonly ConnectionCheck[],
  withinMs: number,
): Promise<readonly ConnectionResult[]> {
  const results: ConnectionResult[] = []
  const waiting = checks.entries()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [at, one] of waiting) results[at] = await checkConnection(one, withinMs)
    }),
  )
  return results
}

async function checkConnection(
  { what, address, run }: ConnectionCheck,
  withinMs: number,
): Promise<ConnectionResult> {
  const startedMs = performance.now()
  const outcome = await within(withinMs, run(withinMs)).then(
    (detail) => ({ ok: true, detail }),
    (error: unknown) => ({ ok: false, detail: reasonIn(error, withinMs) }),
  )
  return { what, address, ...outcome, ms: Math.round(performance.now() - startedMs) }
}

function reasonIn(error: unknown, withinMs: number): string {
  const message = messageOf(error)
  // The timeout messages of undici and ioredis.
  if (/aborted due to timeout|timed out/i.test(message)) return `no response within ${withinMs / 1000} s`
  return withoutSecrets(message === '' ? 'it does not respond' : message)
}

/** Waits for work. @throws Error after the given time */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timeout = wait(ms, null, { signal: controller.signal }).then(() => {
    throw new Error('timed out')
  })
  return Promise.race([work, timeout]).finally(() => controller.abort())
}

function formatCheckReport(file: string, connections: readonly ConnectionResult[] | null): string {
  if (connections === null) return `${file} is good\n`
  const rows = connections.map(({ what, address, ok, detail, ms }) => [
    ok ? 'ok' : 'FAILED',
    what,
    address,
    `${ms} ms`,
    detail,
  ])
  const failed = connections.filter(({ ok }) => !ok).length
  const sum =
    failed === 0
      ? `${file} is good, and all connections succeeded`
      : `${file} is good; ${failed} of ${counted(connections.length, 'connection')} failed`
  return linesText([...tableLines(rows), sum])
}
