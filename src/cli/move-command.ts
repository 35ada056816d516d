import { Argument, type Command, Option } from 'commander'
import { type Config, loadConfig } from '../config/config.ts'
import { isObject, stringIn } from '../request/value.ts'
import { ADMIN_ROUTES } from '../server/admin-routes.ts'
import { type ComparisonReports, isComparisonReports } from '../server/comparison-reports.ts'
import type { ShiftReport } from '../server/change-shift.ts'
import { ADMINS_OPTION, askAdmin, TOKEN_FILE_OPTION } from './ask-admin.ts'
import { CommandError } from './command-failure.ts'
import { type CommandContext, CONFIG_OPTION, FORMAT_OPTION, notesText } from './command.ts'
import { type EngineFinding, findingLines, findObstacles, hasObstacle } from './move-findings.ts'
import { askEachGateway, printAnswers } from './each-gateway.ts'
import { linesText, printResponse } from './output.ts'
import { wholeNumberOf } from './with-engine.ts'
import { withRuntime } from './with-runtime.ts'

const ACTIONS = ['check', 'status', 'report', 'shift', 'back'] as const
const KINDS = ['reads', 'writes', 'all'] as const

export function addMoveCommand(program: Command, context: CommandContext): void {
  program
    .command('move')
    .usage('check | status | report | shift <KIND> <SHARE> | back [options]')
    .description('check and shift requests from one group of nodes to another, and return them')
    .addArgument(
      new Argument(
        '<ACTION>',
        'find obstacles, show the shares or the differences between the groups, change the shares, or set them to 0%',
      ).choices(ACTIONS),
    )
    .addArgument(new Argument('[KIND]', 'with shift: the requests whose share changes').choices(KINDS))
    .argument('[SHARE]', 'with shift: the share of the new group, for example 25%')
    .addOption(CONFIG_OPTION)
    .option('-e, --engine <NAME>', 'default: the only engine that has groups')
    .addOption(ADMINS_OPTION)
    .addOption(TOKEN_FILE_OPTION)
    .addOption(
      new Option('--timeout <SECONDS>', 'with check: the time for deployed resources of an engine')
        .default(120, '120')
        .argParser((text) => wholeNumberOf(text, 1, 86_400)),
    )
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async (action, kind, share, { config: file, engine, format, timeout, ...given }) => {
        const change = changeOf(action, kind, share)
        const config = loadConfig(file)
        if (action === 'check') {
          const findings = await checkGroups({ config, engine, withinMs: timeout * 1000 }, context)
          printResponse(context, format, {
            text: () => linesText(findingLines(findings)),
            json: () => ({ file, good: !hasObstacle(findings), findings }),
          })
          return hasObstacle(findings) ? 1 : 0
        }
        if (action === 'report') {
          const answers = await askEachGateway(given, config, async (address) =>
            comparisonsOf(await askAdmin(address, ADMIN_ROUTES.compared), engine),
          )
          return printAnswers(context, answers, { format, lines: comparisonLines }, (reports) =>
            hasDifferences(reports) ? 1 : 0,
          )
        }
        const answers = await askEachGateway(given, config, async (address) =>
          reportOf(await askAdmin(address, ADMIN_ROUTES.shift, { engine, ...change })),
        )
        const isAlone = ({ shared }: ShiftReport) => action !== 'status' && shared === false
        return printAnswers(
          context,
          answers,
          { format, lines: (report) => [...linesOf(report), ...(isAlone(report) ? [ALONE] : [])] },
          (report) => (isAlone(report) ? 1 : 0),
        )
      }),
    )
}

const NOTES = {
  about: `check connects to both groups with the gateway's own credentials and only reads. It finds what must be
changed before requests are shifted: families, database schema, settings, admin groups, and deployed resources
that only one family can use. It needs no running gateway, and reads at most 5000 deployments.

The other actions send POST /shift to the admin listener of a gateway. The change applies to the next requests
in all workers and, with cache.redis, in all other gateways that share this Redis. A reload or another file
does not end it. Without Redis it ends with the process: write the same shares into the configuration. back
sets both shares to 0%. report shows the results of engines.NAME.compare since the last start or reload, and
the members that differed. It shows no text of the responses.`,
  examples: [
    'engine-gateway move check --config gateway.yaml',
    'engine-gateway move status --config gateway.yaml',
    'engine-gateway move report --config gateway.yaml',
    'engine-gateway move shift reads 25% --config gateway.yaml',
    'engine-gateway move back --engine default --config gateway.yaml',
  ],
  exitCodes: [
    [0, 'the shares are in force; check: no obstacle was found; report: no difference was found'],
    [
      1,
      'check: an error or a warning; report: responses differ; shift, back: Redis did not receive the change',
    ],
    [2, 'invalid arguments, or a gateway or worker that does not respond'],
  ],
} as const

const ALONE =
  'Only this gateway was changed, because Redis does not respond: change the others with --admin too. A gateway that starts does not have the change'

interface CheckedEngines {
  readonly config: Config
  /** Undefined: all engines that have groups. */
  readonly engine: string | undefined
  readonly withinMs: number
}

/** @throws CommandError if there are no groups, ConfigError */
async function checkGroups(
  { config, engine, withinMs }: CheckedEngines,
  { build, stderr }: Pick<CommandContext, 'build' | 'stderr'>,
): Promise<readonly EngineFinding[]> {
  return withRuntime({ build, config }, async ({ questions }) => {
    const checks = questions.moveChecks().filter((check) => engine === undefined || check.engine === engine)
    if (checks.length === 0) throw new CommandError('No engine has groups of nodes. Set engines.NAME.shift')
    return findObstacles(checks, withinMs, stderr)
  })
}

interface Change {
  readonly reads?: string
  readonly writes?: string
}

/** @throws CommandError if the arguments do not fit the action */
function changeOf(
  action: (typeof ACTIONS)[number],
  kind: (typeof KINDS)[number] | undefined,
  share: string | undefined,
): Change {
  if (action !== 'shift') {
    if (kind !== undefined) throw new CommandError(`${action} takes neither a kind nor a share`)
    return action === 'back' ? { reads: '0%', writes: '0%' } : {}
  }
  if (kind === undefined || share === undefined)
    throw new CommandError('shift needs a kind and a share, for example: move shift reads 25%')
  return { ...(kind !== 'writes' && { reads: share }), ...(kind !== 'reads' && { writes: share }) }
}

/** Checks the response of `POST /shift`. @throws CommandError */
function reportOf(response: unknown): ShiftReport {
  if (isObject(response)) {
    const { engine, to, from, reads, writes, revision, shared } = response
    if (
      typeof engine === 'string' &&
      typeof to === 'string' &&
      typeof from === 'string' &&
      typeof reads === 'number' &&
      typeof writes === 'number' &&
      typeof revision === 'number' &&
      (typeof shared === 'boolean' || shared === null)
    )
      return {
        engine,
        to,
        from,
        reads,
        writes,
        returned: stringIn(response, 'returned'),
        finding: stringIn(response, 'finding'),
        refused: stringIn(response, 'refused'),
        revision,
        shared,
      }
  }
  throw new CommandError('The response is not the result of a shift')
}

function linesOf({
  engine,
  to,
  from,
  reads,
  writes,
  returned,
  finding,
  refused,
}: ShiftReport): readonly string[] {
  const shares = `${engine}: ${to} gets ${percentOf(reads)} of the reads and ${percentOf(writes)} of the writes; ${from} gets the rest`
  if (refused !== null) return [shares, refused]
  if (returned === null) return [shares]
  const limit = returned === 'latency' ? 'return.slower' : `return.${returned}`
  const reason = returned === 'down' ? 'had no node that could be used' : `passed the limit ${limit}`
  return [
    shares,
    `All requests returned to ${from} because ${to} ${reason}`,
    ...(finding === null ? [] : [`Finding: ${finding}`]),
  ]
}

/** Checks the response of `GET /compared`. @throws CommandError if nothing is compared */
function comparisonsOf(response: unknown, engine: string | undefined): ComparisonReports {
  if (!isComparisonReports(response)) throw new CommandError('The response is not the result of a comparison')
  const chosen = Object.entries(response).filter(([name]) => engine === undefined || name === engine)
  if (chosen.length === 0) throw new CommandError('Nothing is compared. Set engines.NAME.compare')
  return Object.fromEntries(chosen)
}

function comparisonLines(reports: ComparisonReports): readonly string[] {
  return Object.entries(reports).flatMap(([name, { results, differences }]) => {
    const sum = Object.values(results).reduce((all, count) => all + count, 0)
    return [
      `${name}: ${sum} reads were compared`,
      ...Object.entries(results).map(([result, count]) => `  ${result}: ${count}`),
      ...differences.map(
        ({ atMs, operation, place, left, right, times, isConfirmed }) =>
          `  ${new Date(atMs).toISOString()} ${operation} ${place}: ${left}, ${right} (${timesOf(times, isConfirmed)})`,
      ),
    ]
  })
}

function hasDifferences(reports: ComparisonReports): boolean {
  return Object.values(reports).some(
    ({ results, differences }) =>
      (results['different'] ?? 0) > 0 || differences.some(({ isConfirmed }) => isConfirmed),
  )
}

function timesOf(times: number, isConfirmed: boolean): string {
  const count = times === 1 ? 'once' : `${times} times`
  return isConfirmed ? count : `${count}, not confirmed`
}

function percentOf(share: number): string {
  return `${Math.round(share * 1000) / 10}%`
}
