import type { Command } from 'commander'
import { permissionText } from '../pipeline/explain-text.ts'
import { counted } from '../pipeline/plural.ts'
import { isRecord } from '../request/value.ts'
import { readAuditLines } from './audit-lines.ts'
import { CommandError } from './command-failure.ts'
import { type CommandContext, FORMAT_OPTION, notesText } from './command.ts'
import { linesText, printResponse, tableLines } from './output.ts'

export function addCompareDecisionsCommand(program: Command, context: CommandContext): void {
  program
    .command('compare-decisions')
    .description('show where the decisions of the gateway differ from those of a secured engine')
    .option('-f, --file <FILE>', 'a file with audit lines')
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async ({ file, format }) => {
        const differences = new Map<string, DecisionDifference>()
        const { readable, unreadable } = await readAuditLines(file ?? context.stdin, (line) =>
          addLine(differences, line),
        )
        if (readable === 0 && unreadable > 0) throw new CommandError('There is no audit line')
        const sorted = [...differences.values()].toSorted((one, other) => other.times - one.times)
        printResponse(context, format, {
          text: () => textOf(sorted),
          json: () => ({ differences: sorted, unreadable }),
        })
        return sorted.length === 0 ? 0 : 1
      }),
    )
}

const NOTES = {
  about: `The command reads lines of the audit stream from standard input or --file. In report mode in front of an
engine that knows the caller, a line says how the decision of the gateway differs from that of the engine.
stricter: the gateway would refuse the request, or hide items of the response. wider: the engine refuses a
request that the gateway would permit. The metric gateway_decisions_compared_total counts all requests,
also those without an audit line.`,
  examples: [
    'engine-gateway compare-decisions < audit.jsonl',
    'engine-gateway compare-decisions --file audit.jsonl --format json',
  ],
  exitCodes: [
    [0, 'no line shows a difference'],
    [1, 'at least one line shows a difference'],
    [2, 'no result: invalid arguments, or no audit line'],
  ],
} as const

/** The differing decisions of one kind about one operation of one user. */
interface DecisionDifference {
  readonly result: string
  readonly engine: string
  readonly operation: string
  readonly user: string
  times: number
  /** The permissions that the user lacks at the gateway, up to `MAX_MISSING`. */
  readonly missing: string[]
}

const MAX_MISSING = 5

function addLine(
  differences: Map<string, DecisionDifference>,
  line: Readonly<Record<string, unknown>>,
): void {
  const { comparison, engine, operation, user, missing } = line
  if (comparison !== 'stricter' && comparison !== 'wider') return
  const names = [engine, operation, user].map((name) => (typeof name === 'string' ? name : ''))
  const [ofEngine = '', ofOperation = '', ofUser = ''] = names
  const key = JSON.stringify([comparison, ...names])
  const difference = differences.get(key) ?? {
    result: comparison,
    engine: ofEngine,
    operation: ofOperation,
    user: ofUser,
    times: 0,
    missing: [],
  }
  difference.times += 1
  for (const text of missingTexts(missing))
    if (difference.missing.length < MAX_MISSING && !difference.missing.includes(text))
      difference.missing.push(text)
  differences.set(key, difference)
}

function missingTexts(missing: unknown): readonly string[] {
  return (Array.isArray(missing) ? missing : []).flatMap((one: unknown) => {
    if (!isRecord(one)) return []
    const { permission, resource, resourceId } = one
    return typeof permission === 'string' && typeof resource === 'string' && typeof resourceId === 'string'
      ? [permissionText({ permission, resource, resourceId })]
      : []
  })
}

function textOf(differences: readonly DecisionDifference[]): string {
  const times = differences.reduce((sum, one) => sum + one.times, 0)
  return linesText([
    ...tableLines(
      differences.map(({ result, engine, operation, user, times: count, missing }) => [
        result,
        engine,
        operation,
        user,
        counted(count, 'time'),
        missing.join(', '),
      ]),
    ),
    times === 0
      ? 'no decision differs'
      : `${counted(times, 'decision')} ${times === 1 ? 'differs' : 'differ'}`,
  ])
}
