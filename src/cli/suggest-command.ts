import type { Command } from 'commander'
import type { MissingPermission } from '../errors.ts'
import { Suggester, type Suggestion } from '../explain/suggest.ts'
import { isMissingPermission, type LineCounts, readAuditLines } from './audit-lines.ts'
import { collected, type CommandContext, type CommandStreams, FORMAT_OPTION, notesText } from './command.ts'
import { linesText, printResponse } from './output.ts'
import { counted } from '../pipeline/plural.ts'
import { lineOfRecord } from '../pipeline/record-line.ts'

export function addSuggestCommand(program: Command, context: CommandContext): void {
  program
    .command('suggest')
    .description('print the smallest set of records that would have permitted refused requests')
    .option('-f, --file <FILE>', 'a file with audit lines')
    .option(
      '-e, --engine <NAME>',
      'use only lines of this engine; required if the lines are of several engines',
    )
    .option('-u, --user <ID>', 'use only lines of this user; may be repeated', collected)
    .option('-g, --group <ID>', 'grant to this group instead of to each user; assumes that they are members')
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(context.exitsOr2(({ format, ...options }) => suggest(format, options, context)))
}

const NOTES = {
  about: `The command reads lines of the audit stream from standard input or --file. It uses requests that were
refused, that enforce mode would have refused, or in which the caller saw no items.`,
  examples: [
    'engine-gateway suggest < audit.jsonl',
    'engine-gateway suggest --file audit.jsonl --engine orders --group clerks',
  ],
  exitCodes: [
    [0, 'the records are enough'],
    [1, 'no record grants some of the missing permissions, or no line names them'],
    [2, 'no result: invalid arguments, no audit line, or lines of several engines'],
  ],
} as const

async function suggest(
  format: 'text' | 'json',
  options: Options & { readonly file?: string | undefined },
  { stdin, stdout, stderr }: CommandStreams,
): Promise<number> {
  const summary = new AuditLogSummary(options)
  const read = await readAuditLines(options.file ?? stdin, (line) => summary.add(line))
  const { unreadable } = read
  if (unreadable > 0) stderr.write(`${counted(unreadable, 'line')} could not be read as JSON\n`)
  const problem = problemOf(summary, read, options.engine)
  if (problem !== null) {
    stderr.write(`${problem}\n`)
    return 2
  }
  const suggestion = summary.suggester.suggest()
  const unknown = unknownOf(summary)
  printResponse({ stdout }, format, {
    text: () => formatSuggestion(suggestion, summary, unknown),
    json: () => ({ ...jsonOf(suggestion, summary, unknown), unreadable }),
  })
  return suggestion.unmet === 0 && unknown.length === 0 ? 0 : 1
}

interface Options {
  readonly engine?: string | undefined
  readonly user?: readonly string[] | undefined
  readonly group?: string | undefined
}

/** Returns the reason why no record can be suggested, or null. */
function problemOf(
  { engines, audited }: AuditLogSummary,
  { readable, unreadable }: LineCounts,
  engine?: string,
): string | null {
  if (unreadable > 0 && readable === 0) return 'There is no audit line'
  if (engine !== undefined && audited.size > 0 && !audited.has(engine))
    return `No line is of engine ${engine}, but of ${[...audited].join(', ')}`
  if (engines.size > 1) return `The lines are of engines ${[...engines].join(', ')}: choose one with --engine`
  return null
}

/** The members of an audit line that are used here. */
interface AuditLine {
  readonly user: string
  readonly engine: string
  readonly operation: string
  readonly decision: string
  readonly rule: string
  readonly missing: readonly MissingPermission[]
  /** The refusal that remains with these permissions. Null if no other refusal is known. */
  readonly otherRefusal: string | null
  /** Null if the line has no status. */
  readonly status: number | null
}

class AuditLogSummary {
  readonly suggester: Suggester
  /** The engines of all audit lines, and the engines of the lines that match the options. */
  readonly audited = new Set<string>()
  readonly engines = new Set<string>()
  readonly users = new Set<string>()
  /** Refusals that no record would change, with their counts. */
  readonly others = new Map<string, number>()
  /**
   * Queries whose items are all left out, with their counts. `seen` has the queries for which some line names the missing
   * permissions.
   */
  readonly withheld = new Map<string, number>()
  /** Requests that the gateway reported and the engine itself refused, with their counts. No record would permit them. */
  readonly byEngine = new Map<string, number>()
  readonly seen = new Set<string>()
  requests = 0
  /** Number of requests that were really refused. Their first refusal hides further ones. */
  refused = 0
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
    this.suggester = new Suggester(options.group ?? null)
  }

  add(line: Readonly<Record<string, unknown>>): void {
    if (typeof line['engine'] === 'string') this.audited.add(line['engine'])
    this.#count(lineOf(line))
  }

  #count(line: AuditLine | null): void {
    const { engine, user } = this.#options
    if (line === null || (engine !== undefined && engine !== line.engine)) return
    if (user !== undefined && !user.includes(line.user)) return
    this.engines.add(line.engine)
    const query = `${line.operation} by ${line.user}`
    const tally = this.#tallyOf(line, query)
    if (tally !== null) {
      count(...tally)
      return
    }
    if (line.rule === NO_ITEMS) this.seen.add(query)
    this.requests += 1
    if (line.decision === 'refused') this.refused += 1
    this.users.add(line.user)
    this.suggester.add(line)
  }

  /**
   * Returns the map and the key under which to count a line for which no record is suggested. Returns null if a record is
   * suggested.
   */
  #tallyOf(line: AuditLine, query: string): Parameters<typeof count> | null {
    const { missing, rule, otherRefusal, status } = line
    if (missing.length === 0 && rule === NO_ITEMS) return [this.withheld, query]
    if (missing.length === 0) return [this.others, `${query}: ${rule}`]
    if (isRefusedByEngine(line)) return [this.byEngine, `${query}: ${status}`]
    return otherRefusal === null ? null : [this.others, `${query}: ${otherRefusal}`]
  }
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}

/**
 * Returns whether the engine refused a request that the gateway let through in report mode. 499 means that the client
 * disconnected; from 502 on, no node has responded.
 */
function isRefusedByEngine({ decision, status }: AuditLine): boolean {
  return decision === 'reported' && status !== null && status >= 400 && status !== 499 && status < 502
}

/** The rule of a query that shows the caller no items. */
const NO_ITEMS = 'items: none'

/** Returns null unless the line is a refusal of a known user or a response without its items. */
function lineOf(line: Readonly<Record<string, unknown>>): AuditLine | null {
  const { user, engine, operation, decision, rule, missing, otherRefusal, status } = line
  if (decision !== 'refused' && decision !== 'reported' && !(decision === 'permitted' && rule === NO_ITEMS))
    return null
  if (typeof user !== 'string' || typeof engine !== 'string' || typeof operation !== 'string') return null
  return {
    user,
    engine,
    operation,
    decision,
    rule: typeof rule === 'string' ? rule : 'unknown',
    missing: Array.isArray(missing) ? missing.filter(isMissingPermission) : [],
    otherRefusal: typeof otherRefusal === 'string' ? otherRefusal : null,
    status: typeof status === 'number' ? status : null,
  }
}

type NameTally = readonly (readonly [what: string, times: number])[]

/** Returns the queries that show no items and for which no line names the missing permissions. */
function unknownOf({ withheld, seen }: AuditLogSummary): NameTally {
  return [...withheld].filter(([query]) => !seen.has(query))
}

function formatSuggestion(
  suggestion: Suggestion,
  { requests, refused, users, others, byEngine }: AuditLogSummary,
  unknown: NameTally,
): string {
  const { records, needs, unmet, crowded } = suggestion
  const lines = [
    `# ${counted(requests, 'request')} of ${counted(users.size, 'user')} lacked ${counted(needs, 'permission')}; ${counted(records.length, 'record')} would be ${unknown.length === 0 ? 'enough' : 'enough for these'}.`,
    ...(refused === 0
      ? []
      : [
          `# ${refused} of them ${refused === 1 ? 'was' : 'were'} refused. A refusal names only the first missing permissions: run the command again after you add the records.`,
        ]),
    ...crowded.map(
      (name) => `# ${name}: many ids that no definition covers. A record on "*" would cover them.`,
    ),
    records.length === 0 ? 'authorizations: []' : 'authorizations:',
    ...records.map(({ record, times }) => `  ${lineOfRecord(record)}: ${counted(times, 'time')}`),
    unmet === 0
      ? '# Tried: with these records alone, everything that was missing is granted.'
      : `# Tried: ${unmet} of ${needs} ${unmet === 1 ? 'is' : 'are'} still missing with these records.`,
    ...(others.size === 0 ? [] : ['# No record would change:']),
    ...timesLines(others),
    ...(byEngine.size === 0 ? [] : ['# The engine itself refused these, so nothing is suggested for them:']),
    ...timesLines(byEngine),
    ...(unknown.length === 0
      ? []
      : [
          '# The caller saw no items, and no line names the missing permission. In report mode, a line names it as soon as there are items:',
        ]),
    ...timesLines(unknown),
  ]
  // Removes line ends from names, which would otherwise end a YAML comment.
  return linesText(lines)
}

function timesLines(counts: Iterable<readonly [what: string, times: number]>): readonly string[] {
  return [...counts].map(([what, times]) => `#   ${what}: ${counted(times, 'time')}`)
}

/**
 * Returns the result as JSON. `noRecord` counts refusals that no record changes. `refusedByEngine` counts reported requests that
 * the engine itself refused. `unknown` counts queries that return no items and have no line that names the missing permission.
 */
function jsonOf(
  { records, needs, unmet, crowded }: Suggestion,
  { requests, refused, users, others, byEngine }: AuditLogSummary,
  unknown: NameTally,
): object {
  return {
    records,
    requests,
    refused,
    users: [...users],
    needs,
    unmet,
    crowded,
    noRecord: countsOf(others),
    refusedByEngine: countsOf(byEngine),
    unknown: countsOf(unknown),
  }
}

function countsOf(counts: Iterable<readonly [what: string, times: number]>) {
  return [...counts].map(([what, times]) => ({ what, times }))
}
