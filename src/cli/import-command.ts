import type { Command } from 'commander'
import { messageOf } from '../errors.ts'
import { membershipsOf } from '../files/groups-file.ts'
import { recordsOf } from '../files/records-file.ts'
import { counted } from '../pipeline/plural.ts'
import { readIdentities, readRecords } from '../transfer/engine-content.ts'
import { type ImportStep, planMemberships, planRecords } from '../transfer/import-plan.ts'
import { type ImportResult, runImport } from '../transfer/run-import.ts'
import { type CommandContext, FORMAT_OPTION, notesText } from './command.ts'
import { linesText, printResponse } from './output.ts'
import { readText } from './read-text.ts'
import { addEngineOptions, type EngineConnection, withEngine } from './with-engine.ts'

export function addImportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('import')
    .description('write the records of a file, and groups and tenants of users, into an engine')
  addEngineOptions(command)
    .argument('<FILE>', 'a file of authorization records')
    .option('--groups <FILE>', 'also import the groups and tenants of users from this file')
    .option('--remove', 'remove records and memberships that the files do not contain')
    .option('--dry-run', 'print the changes and send none')
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async (file, { groups, remove, dryRun, format, ...flags }) => {
        const wanted = {
          records: recordsOf(readText(file), file),
          memberships: groups === undefined ? null : membershipsOf(readText(groups), groups),
        }
        // A line for each change that is done: it is visible even if the command is killed.
        const onDone = (step: ImportStep) => {
          if (format === 'text') context.stdout.write(linesText([lineOf(step)]))
        }
        const report = await withEngine(flags, context, (connection) =>
          importContent(connection, wanted, { remove: remove === true, dryRun: dryRun === true, onDone }),
        )
        printResponse(context, format, {
          text: () => formatImport(report),
          json: () => jsonOf(report),
        })
        return report.result?.failure == null && report.missingUsers.length === 0 ? 0 : 1
      }),
    )
}

const NOTES = {
  about: `The command reads the records of the engine, and compares them with the file. It creates records that are
missing, and changes the permissions of records that differ. It sends each change once, in order, and ends at
the first one that the engine refuses or does not respond to. Run it again to continue: it compares again.

With --groups, it also creates groups and tenants that are missing, and adds users to them. Users
cannot be imported, because the files contain no passwords that an engine accepts: create them first. The
command reports users that the engine does not have. Groups and tenants are never removed.`,
  examples: [
    'engine-gateway import authorizations.json --config gateway.yaml --dry-run',
    'engine-gateway import authorizations.json --groups groups.yaml --url http://engine:8080/engine-rest',
  ],
  exitCodes: [
    [0, 'the engine has the content of the files, or --dry-run has printed the changes'],
    [1, 'a change has failed, or the engine does not have some users of the files'],
    [2, 'no result: invalid arguments, an invalid file, or an engine that does not respond'],
  ],
} as const

interface WantedContent {
  readonly records: ReturnType<typeof recordsOf>
  readonly memberships: ReturnType<typeof membershipsOf> | null
}

interface ImportReport {
  readonly steps: readonly ImportStep[]
  readonly missingUsers: readonly string[]
  /** Null with `--dry-run`. */
  readonly result: ImportResult | null
}

interface ImportRun {
  readonly remove: boolean
  readonly dryRun: boolean
  readonly onDone: (step: ImportStep) => void
}

/** Imports memberships and then records: an engine with authorization also creates records when a group or a tenant is created. */
async function importContent(
  { ask, reading }: EngineConnection,
  { records, memberships }: WantedContent,
  { remove, dryRun, onDone }: ImportRun,
): Promise<ImportReport> {
  const first =
    memberships === null
      ? { steps: [], missingUsers: [] }
      : planMemberships(memberships, await readIdentities(reading), { remove })
  const before = dryRun ? null : await runImport(ask, first.steps, onDone)
  const { missingUsers } = first
  const stored = await readRecords(reading).catch((error: unknown) => {
    if (before === null || before.done === 0) throw error
    return messageOf(error)
  })
  if (before !== null && typeof stored === 'string') {
    // Changes were sent before. The report must contain them.
    const failure = { outcome: 'not sent', reason: `the records were not read: ${stored}` } as const
    return { steps: first.steps, missingUsers, result: { ...before, failure: before.failure ?? failure } }
  }
  const recordSteps = planRecords(records, typeof stored === 'string' ? [] : stored, { remove })
  const steps = [...first.steps, ...recordSteps]
  if (before === null || before.failure !== null) return { steps, missingUsers, result: before }
  const { done, failure } = await runImport(ask, recordSteps, onDone)
  return { steps, missingUsers, result: { done: before.done + done, failure } }
}

function lineOf({ kind, what }: ImportStep): string {
  return `${kind.padEnd('create'.length)}  ${what}`
}

const OUTCOMES = {
  refused: 'The engine has refused it',
  'not sent': 'It was not sent',
  unknown: 'It is unknown whether the engine has executed it: run the command with --dry-run',
} as const

function formatImport({ steps, missingUsers, result }: ImportReport): string {
  const missing = missingUsers.map(
    (user) =>
      `not imported: user ${user}, which the engine does not have: create the user with a password first`,
  )
  if (result === null)
    return linesText([
      ...steps.map(lineOf),
      ...missing,
      `${counted(steps.length, 'change')} would be sent; nothing was sent`,
    ])
  const { done, failure } = result
  const sum = `${done} of ${counted(steps.length, 'change')} done`
  const failed = steps.slice(done, done + 1).map((step) => `failed: ${lineOf(step)}`)
  if (failure === null) return linesText([...missing, sum])
  return linesText([
    ...missing,
    ...failed,
    `${OUTCOMES[failure.outcome]}: ${failure.reason}`,
    ...steps.slice(done + 1).map((step) => `not sent: ${lineOf(step)}`),
    sum,
  ])
}

function jsonOf({ steps, missingUsers, result }: ImportReport): object {
  const stateOf = (at: number) => {
    if (result === null) return 'planned'
    if (at < result.done) return 'done'
    return at === result.done ? (result.failure?.outcome ?? 'not sent') : 'not sent'
  }
  return {
    dryRun: result === null,
    steps: steps.map(({ kind, what }, at) => ({ kind, what, state: stateOf(at) })),
    missingUsers,
    reason: result?.failure?.reason ?? null,
  }
}
