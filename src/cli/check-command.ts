import { setTimeout as wait } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { ConnectionCheck } from '../assembly/runtime.ts'
import { ConfigError, loadConfig } from '../config/config.ts'
import { CHECKED_BY_HAND, productionFindingsOf } from '../config/production.ts'
import { messageOf } from '../errors.ts'
import { withoutSecrets } from '../log.ts'
import { counted } from '../pipeline/plural.ts'
import { versionOf } from '../server/version.ts'
import { type CommandContext, CONFIG_OPTION, FORMAT_OPTION, notesText } from './command.ts'
import { type EngineFinding, findingLines, findObstacles, hasObstacle } from './move-findings.ts'
import { linesText, printResponse, tableLines } from './output.ts'
import { createErrorLogger } from './with-runtime.ts'

const MAX_TIMEOUT_S = 60
/** Number of checks that run at once, so that unreachable nodes reach their timeouts together. */
const AT_ONCE = 32
/** How long closing may take if no connection was checked. */
const MAX_CLOSE_MS = 5000
/** The time for the deployed resources of each engine whose nodes have groups. */
const MOVE_CHECK_MS = 120_000

export function addCheckCommand(program: Command, context: CommandContext): void {
  program
    .command('check')
    .description('check a configuration, and print its problems')
    .addOption(CONFIG_OPTION)
    .option('--connect', 'also check that nodes, sources and Redis respond')
    .option('--production', 'also check the settings that SECURITY.md lists for production')
    .addOption(
      new Option('--timeout <SECONDS>', 'maximum time for each connection')
        .default(5000, '5')
        .argParser(timeoutMsOf),
    )
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exits(async ({ config: file, connect, production, timeout, format }) => {
        const wanted = { isProduction: production === true, withinMs: connect === true ? timeout : null }
        const checked = await check(file, wanted, context).catch((error: unknown) => {
          // In text format, every command prints the problems of such a file in the same way.
          if (format === 'text' || !(error instanceof ConfigError)) throw error
          return { problems: error.problems, warnings: [], production: null, connections: null, move: null }
        })
        const { problems, warnings, production: findings, connections, move } = checked
        // With --production, the warnings are among the settings that are not for production.
        if (format === 'text' && findings === null)
          for (const warning of warnings) context.stderr.write(linesText([`warning: ${warning}`]))
        printResponse(context, format, {
          text: () => formatCheckReport(file, checked),
          json: () => ({ file, good: problems.length === 0, ...checked }),
        })
        const isGood = problems.length === 0 && (findings ?? []).length === 0 && !hasObstacle(move ?? [])
        return isGood && (connections ?? []).every(({ ok }) => ok) ? 0 : 1
      }),
    )
}

const NOTES = {
  about: `With --connect, the command also connects to the systems in the configuration. It reads the engines, the
version and the date format of each node, with the gateway's own credentials. It sends one probe to each
node of an application in passthrough. If nodes have groups, it finds the same obstacles as move check. It
reads one user and one record from engines that are a source of users or records, and the keys of each token
issuer. It connects to Redis. It changes nothing. It does not connect to applications without a probe, or to
the collector of traces.

With --production, the command compares the configuration with the list "Hardening" in SECURITY.md. It
prints each setting that differs, and what must be checked by hand. A warning counts as such a setting.`,
  examples: [
    'engine-gateway check --config gateway.yaml',
    'engine-gateway check --config gateway.yaml --connect --format json',
    'engine-gateway check --config gateway.yaml --production',
  ],
  exitCodes: [
    [0, 'the configuration is valid, and with --connect every connection succeeded'],
    [
      1,
      'there are problems, failed connections, obstacles to a move, or settings that are not for production',
    ],
    [2, 'invalid arguments'],
  ],
} as const

interface CheckReport {
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  /** Null without `--production`. */
  readonly production: readonly string[] | null
  /** Null if no connection was checked. */
  readonly connections: readonly ConnectionResult[] | null
  /** The findings of `move check`. Null if no connection was checked, or if no engine has groups of nodes. */
  readonly move: readonly EngineFinding[] | null
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

interface WantedChecks {
  readonly isProduction: boolean
  /** The timeout for each connection. Null if connections are not checked. */
  readonly withinMs: number | null
}

/** Checks a configuration. @throws ConfigError */
async function check(
  file: string,
  { isProduction, withinMs }: WantedChecks,
  { build, stderr }: Pick<CommandContext, 'build' | 'stderr'>,
): Promise<CheckReport> {
  const config = loadConfig(file)
  const { close, questions } = await build({ config, log: createErrorLogger(), version: versionOf() })
  const results = withinMs === null ? null : await checkConnections(questions.connections(), withinMs)
  const moveChecks = withinMs === null ? [] : questions.moveChecks()
  const move = moveChecks.length === 0 ? null : await findObstacles(moveChecks, MOVE_CHECK_MS, stderr)
  // A request that was abandoned still runs until its own timeout.
  await within(withinMs ?? MAX_CLOSE_MS, close()).catch(() => undefined)
  const { warnings } = questions
  const findings = productionFindingsOf(config).map(({ path, problem }) => `${path}: ${problem}`)
  return {
    problems: [],
    warnings,
    production: isProduction ? [...warnings, ...findings] : null,
    connections: results,
    move,
  }
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

function formatCheckReport(
  file: string,
  { production: findings, connections, move }: Pick<CheckReport, 'production' | 'connections' | 'move'>,
): string {
  return linesText([
    ...((connections ?? []).length === 0 ? [] : tableLines((connections ?? []).map(connectionRow))),
    ...(move === null ? [] : findingLines(move)),
    ...(findings === null ? [] : productionLines(findings)),
    sumOf(file, findings, connections),
  ])
}

function connectionRow({ what, address, ok, detail, ms }: ConnectionResult): string[] {
  return [ok ? 'ok' : 'FAILED', what, address, `${ms} ms`, detail]
}

function productionLines(findings: readonly string[]): readonly string[] {
  return [
    ...findings.map((finding) => `not for production: ${finding}`),
    ...CHECKED_BY_HAND.map((item) => `check by hand: ${item}`),
  ]
}

function sumOf(
  file: string,
  findings: readonly string[] | null,
  connections: readonly ConnectionResult[] | null,
): string {
  const parts = [failedText(connections ?? []), findingsText(findings ?? [])].filter((text) => text !== '')
  if (parts.length > 0) return `${file} has no errors; ${parts.join('; ')}`
  return connections === null ? `${file} is good` : `${file} is good, and all connections succeeded`
}

function failedText(connections: readonly ConnectionResult[]): string {
  const failed = connections.filter(({ ok }) => !ok).length
  return failed === 0 ? '' : `${failed} of ${counted(connections.length, 'connection')} failed`
}

function findingsText({ length }: readonly string[]): string {
  return length === 0 ? '' : `${counted(length, 'setting')} ${length === 1 ? 'is' : 'are'} not for production`
}
