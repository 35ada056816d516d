import { Argument, type Command } from 'commander'
import { ChainVerifier, type LineCheck } from '../metrics/audit-chain.ts'
import { counted } from '../pipeline/plural.ts'
import { linesOf } from './audit-lines.ts'
import { CommandError } from './command-failure.ts'
import { type CommandContext, FORMAT_OPTION, notesText } from './command.ts'
import { linesText, printResponse } from './output.ts'

export function addAuditCommand(program: Command, context: CommandContext): void {
  program
    .command('audit')
    .usage('verify [options] <FILES...>')
    .description('check that no line of the audit stream was removed or changed')
    .addArgument(new Argument('<ACTION>', 'the only action').choices(['verify'] as const))
    .argument('<FILES...>', 'files with audit lines, the oldest first')
    .option('--partial', 'accept that the files begin after the first line of a writer')
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async (_, files, { partial = false, format }) => {
        const verified = await verify(files, partial)
        printResponse(context, format, { text: () => textOf(verified), json: () => verified })
        return verified.problems.length === 0 ? 0 : 1
      }),
    )
}

const NOTES = {
  about: `Each audit line has the id of its writer, a sequence number, and a digest of this and all earlier lines of the
writer. A writer is one process with one configuration. Lines of other streams are left out. The command
cannot notice that the last lines of a writer were removed, or that a person calculated all digests again:
keep a copy of the stream where the gateway cannot change it.`,
  examples: [
    'engine-gateway audit verify audit.jsonl.1 audit.jsonl',
    'engine-gateway audit verify --partial audit.jsonl',
  ],
  exitCodes: [
    [0, 'no line is missing or changed'],
    [1, 'a line is missing, changed or without a digest'],
    [2, 'no result: invalid arguments, or a file that cannot be read'],
  ],
} as const

interface Verified {
  readonly lines: number
  readonly writers: number
  /** The first problems, up to `MAX_PROBLEMS`. */
  readonly problems: readonly string[]
}

const MAX_PROBLEMS = 100

async function verify(files: readonly string[], isPartial: boolean): Promise<Verified> {
  const verifier = new ChainVerifier()
  const problems: string[] = []
  let lines = 0
  for (const file of files) {
    let number = 0
    for await (const line of linesOf(file)) {
      number += 1
      if (!line.includes('"stream":"audit"')) continue
      lines += 1
      const problem = problemOf(verifier.check(line), isPartial)
      if (problem !== null && problems.length < MAX_PROBLEMS) problems.push(`${file}:${number}: ${problem}`)
    }
  }
  if (lines === 0) throw new CommandError('There is no audit line')
  return { lines, writers: verifier.writers, problems }
}

function problemOf(check: LineCheck, isPartial: boolean): string | null {
  if (check.result === 'intact') return null
  if (check.result === 'without seal') return 'the line has no digest'
  const { writer } = check
  if (check.result === 'changed')
    return `line ${check.sequence} of writer ${writer}, or a line before it, was changed`
  if (check.result === 'earlier lines absent')
    return isPartial
      ? null
      : `lines 1 to ${check.sequence - 1} of writer ${writer} are missing: give the earlier files too, or use --partial`
  return check.from === check.to
    ? `line ${check.from} of writer ${writer} is missing`
    : `lines ${check.from} to ${check.to} of writer ${writer} are missing`
}

function textOf({ lines, writers, problems }: Verified): string {
  const sum = `${counted(lines, 'line')} of ${counted(writers, 'writer')}`
  return linesText([...problems, problems.length === 0 ? `${sum}: none is missing or changed` : sum])
}
