import { readFileSync } from 'node:fs'
import { Argument, type Command, InvalidArgumentError } from 'commander'
import { fileReasonOf } from '../config/file-text.ts'
import { messageOf } from '../errors.ts'
import {
  ChainVerifier,
  digestNumberOf,
  type LineCheck,
  type NamedLine,
  type Unfound,
} from '../metrics/audit-chain.ts'
import { counted } from '../pipeline/plural.ts'
import { linesOf } from './audit-lines.ts'
import { CommandError } from './command-failure.ts'
import { type CommandContext, FORMAT_OPTION, notesText } from './command.ts'
import { linesText, printResponse } from './output.ts'

export function addAuditCommand(program: Command, context: CommandContext): void {
  program
    .command('audit')
    .usage('verify [options] <FILES...>')
    .description('check whether lines of the audit stream were removed or changed')
    .addArgument(new Argument('<ACTION>', 'the only action').choices(['verify'] as const))
    .argument('<FILES...>', 'files with audit lines, the oldest first')
    .option('--partial', 'accept that the files begin after the first line of a writer, or after a writer')
    .option('--expect-end', 'report each writer without an end line')
    .option(
      '--key-file <FILE>',
      'a file with the audit.key of the lines; repeat the option for former keys',
      (file: string, files: readonly string[]) => [...files, file],
      [] as readonly string[],
    )
    .option(
      '--expect-line <WRITER:SEQUENCE:DIGEST>',
      'report if this line is missing or has another digest, as in the metrics; may be repeated',
      addExpectedLine,
      [] as readonly NamedLine[],
    )
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async (_, files, { format, ...options }) => {
        const verified = await verify(files, options)
        printResponse(context, format, { text: () => textOf(verified), json: () => verified })
        return verified.problems.length === 0 ? 0 : 1
      }),
    )
}

const EXPECTED_LINE = /^([\da-f]{12}):(\d{1,15}):(\d{1,15})$/

function addExpectedLine(text: string, lines: readonly NamedLine[]): readonly NamedLine[] {
  const [, writer, sequence, digest] = EXPECTED_LINE.exec(text) ?? []
  if (writer === undefined)
    throw new InvalidArgumentError('use the id of the writer and two numbers, for example 0123456789ab:7:99')
  const hasDigest = (other: string) => digestNumberOf(other) === Number(digest)
  return [...lines, { writer, sequence: Number(sequence), hasDigest, by: null }]
}

const NOTES = {
  about: `Each audit line has the id of its writer, a sequence number, and a digest of this and all earlier lines of
the writer. A writer is one process with one configuration. Its first line names the last lines of earlier
writers of the same file or process, and its last line is an end line if the process was stopped. Lines of
other streams are left out. The output says what the lines do not prove: keep a copy of the stream where the
gateway cannot change it.`,
  examples: [
    'engine-gateway audit verify audit.jsonl.1 audit.jsonl',
    'engine-gateway audit verify --partial audit.jsonl',
    'engine-gateway audit verify --expect-end --key-file audit.key audit.jsonl',
    'engine-gateway audit verify --expect-line 0123456789ab:120:140737488355328 audit.jsonl',
  ],
  exitCodes: [
    [0, 'no line is known to be missing or changed'],
    [1, 'a line is missing, changed or without a digest'],
    [2, 'no result: invalid arguments, a file that cannot be read, or no key for lines with a key'],
  ],
} as const

interface VerifyOptions {
  readonly partial?: true | undefined
  readonly expectEnd?: true | undefined
  readonly keyFile: readonly string[]
  readonly expectLine: readonly NamedLine[]
}

interface Verified {
  readonly lines: number
  readonly writers: number
  /** Writers whose last line is not an end line. */
  readonly withoutEnd: readonly string[]
  /** Whether all lines have a key. */
  readonly keyed: boolean
  /** The first problems, up to `MAX_PROBLEMS`. */
  readonly problems: readonly string[]
}

const MAX_PROBLEMS = 100

async function verify(files: readonly string[], options: VerifyOptions): Promise<Verified> {
  const { partial: isPartial = false, expectEnd = false, keyFile, expectLine: expected } = options
  const keys = keyFile.map(readKey)
  const verifier = new ChainVerifier({ keys, expected })
  const problems: string[] = []
  let lines = 0
  for (const file of files) {
    let number = 0
    for await (const line of linesOf(file)) {
      number += 1
      if (!line.includes('"stream":"audit"')) continue
      lines += 1
      const check = verifier.check(line)
      if (check.result === 'key absent')
        throw new CommandError(`${file}:${number}: The line has a key: use --key-file`)
      const problem = problemOf(check, isPartial)
      if (problem !== null && problems.length < MAX_PROBLEMS) problems.push(`${file}:${number}: ${problem}`)
    }
  }
  if (lines === 0) throw new CommandError('There is no audit line')
  const { writers, withoutEnd } = verifier
  const unfound = verifier.unfound().filter((line) => !(isPartial && isAccepted(line)))
  problems.push(...new Set(unfound.map(unfoundProblemOf)))
  if (expectEnd) problems.push(...withoutEnd.map(endProblemOf))
  return { lines, writers, withoutEnd, keyed: keys.length > 0, problems: problems.slice(0, MAX_PROBLEMS) }
}

/** @throws CommandError */
function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new CommandError(`${file} ${fileReasonOf(cause) ?? messageOf(cause)}`, { cause })
  }
}

/** Returns whether the given files may begin after a line. */
function isAccepted({ why, isEarliest, by }: Unfound): boolean {
  return why === 'absent' && isEarliest && by !== null
}

function problemOf(check: LineCheck, isPartial: boolean): string | null {
  if (check.result === 'intact') return null
  if (check.result === 'without seal') return 'the line has no digest'
  const { writer } = check
  if (check.result === 'key expected' || check.result === 'key absent')
    return `line ${check.sequence} of writer ${writer} has no key: every person who can write the file could have written it`
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

function unfoundProblemOf({ writer, sequence, by, why }: Unfound): string {
  const namedBy = by === null ? '--expect-line' : `the first line of writer ${by}`
  if (why === 'other')
    return `line ${sequence} of writer ${writer} was changed: ${namedBy} names another digest`
  if (why === 'beyond') return `line ${sequence} of writer ${writer} is missing: ${namedBy} names it`
  return `all lines of writer ${writer} are missing: ${namedBy} names line ${sequence}. Give the earlier files too, or use --partial`
}

function endProblemOf(writer: string): string {
  return `writer ${writer} has no end line: its last lines are missing, or its process was killed or still runs`
}

function textOf(verified: Verified): string {
  const { lines, writers, problems } = verified
  const sum = `${counted(lines, 'line')} of ${counted(writers, 'writer')}`
  return linesText(
    problems.length > 0
      ? [...problems, sum]
      : [`${sum}: no line is known to be missing or changed`, ...limitsOf(verified)],
  )
}

/** Returns what a result without problems does not prove. */
function limitsOf({ withoutEnd, keyed }: Verified): readonly string[] {
  return [
    ...(withoutEnd.length === 0
      ? []
      : [`not proved: that no line follows the last line of ${withoutEnd.join(', ')}, without an end line`]),
    'not proved: that there was no further writer that no first line names, for example a later one',
    ...(keyed
      ? []
      : [
          'not proved: that no person with write access calculated all digests again, because the lines have no key',
        ]),
  ]
}
