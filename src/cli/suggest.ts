import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import type { Lack } from '../errors.ts'
import { isRecord } from '../policy/asked.ts'
import { Suggester } from '../policy/suggest.ts'
import type { Suggestion } from '../policy/suggest.ts'
import { lineOfRecord } from './record-line.ts'

export interface SuggestStreams {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
}

const USAGE = `Usage: engine-gateway suggest [--file AUDIT] [--engine NAME] [--user ID]... [--group ID]

Reads audit lines (standard input, or --file) and prints the fewest authorization records that would have
allowed what they say was refused, or would have been in report mode.

  --engine NAME  only lines of this engine; needed where there are several
  --user ID      only lines of this user; may be repeated
  --group ID     grant to this group, which all of these users are taken to be in, instead of each user
`

/** `engine-gateway suggest`. Returns the exit code: 0 suggested, 1 some needs cannot be met by records, 2 usage. */
export async function suggestCommand(argv: readonly string[], streams: SuggestStreams): Promise<number> {
  const options = optionsOf(argv)
  if (options === null) {
    streams.stderr.write(USAGE)
    return 2
  }
  const gathered = new Gathered(options)
  const input = options.file === undefined ? streams.stdin : createReadStream(options.file)
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
      gathered.add(line)
  } catch (cause) {
    streams.stderr.write(
      `${options.file ?? 'standard input'}: ${cause instanceof Error ? cause.message : String(cause)}\n`,
    )
    return 2
  }
  const engines = [...gathered.engines]
  if (engines.length > 1) {
    streams.stderr.write(`The lines are of engines ${engines.join(', ')}: choose one with --engine\n`)
    return 2
  }
  const suggestion = gathered.suggester.suggest()
  streams.stdout.write(textOf(suggestion, gathered))
  return suggestion.unmet === 0 ? 0 : 1
}

interface Options {
  readonly file?: string | undefined
  readonly engine?: string | undefined
  readonly user?: readonly string[] | undefined
  readonly group?: string | undefined
}

/** Null: these are no options of ours. */
function optionsOf(argv: readonly string[]): Options | null {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        file: { type: 'string', short: 'f' },
        engine: { type: 'string', short: 'e' },
        user: { type: 'string', short: 'u', multiple: true },
        group: { type: 'string', short: 'g' },
      },
    }).values
  } catch {
    return null
  }
}

/** What of an audit line counts here. */
interface Line {
  readonly user: string
  readonly engine: string
  readonly operation: string
  readonly decision: string
  readonly rule: string
  readonly missing: readonly Lack[]
}

class Gathered {
  readonly suggester: Suggester
  readonly engines = new Set<string>()
  readonly users = new Set<string>()
  /** Refusals that no record would change, and how often. */
  readonly others = new Map<string, number>()
  requests = 0
  /** Lines of requests that were refused indeed: their first refusal hides others. */
  refused = 0
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
    this.suggester = new Suggester(options.group ?? null)
  }

  add(text: string): void {
    const line = lineOf(text)
    const { engine, user } = this.#options
    if (line === null || (engine !== undefined && engine !== line.engine)) return
    if (user !== undefined && !user.includes(line.user)) return
    this.engines.add(line.engine)
    if (line.missing.length === 0) {
      const what = `${line.operation} by ${line.user}: ${line.rule}`
      this.others.set(what, (this.others.get(what) ?? 0) + 1)
      return
    }
    this.requests += 1
    if (line.decision === 'refused') this.refused += 1
    this.users.add(line.user)
    this.suggester.add(line)
  }
}

/** Null: no audit line, or none about a known user who got no for an answer. */
function lineOf(text: string): Line | null {
  const line = valueOf(text)
  if (!isRecord(line) || line['stream'] !== 'audit') return null
  const { user, engine, operation, decision, rule, missing } = line
  if (decision !== 'refused' && decision !== 'reported') return null
  if (typeof user !== 'string' || typeof engine !== 'string' || typeof operation !== 'string') return null
  return {
    user,
    engine,
    operation,
    decision,
    rule: typeof rule === 'string' ? rule : 'unknown',
    missing: Array.isArray(missing) ? missing.filter(isLack) : [],
  }
}

function valueOf(text: string): unknown {
  if (!text.includes('"audit"')) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isLack(value: unknown): value is Lack {
  if (!isRecord(value)) return false
  const { permission, resource, resourceId, need } = value
  const names = [permission, resource, resourceId]
  return names.every((name) => typeof name === 'string') && typeof need === 'number'
}

function textOf(suggestion: Suggestion, { requests, refused, users, others }: Gathered): string {
  const { records, needs, unmet, crowded } = suggestion
  const lines = [
    `# ${requests} requests of ${users.size} users lacked ${needs} permissions; ${records.length} records would be enough.`,
    ...(refused === 0
      ? []
      : [
          `# ${refused} of them were refused, and a refusal names only what is missing first: look again afterwards.`,
        ]),
    ...crowded.map(
      (name) => `# ${name}: many ids, and no definition stands for them. A record on "*" would.`,
    ),
    records.length === 0 ? 'authorizations: []' : 'authorizations:',
    ...records.map(({ record, times }) => `  ${lineOfRecord(record)}: ${times} times`),
    unmet === 0
      ? '# Tried: with these records alone, everything that was missing is granted.'
      : `# Tried: ${unmet} of ${needs} are still missing with these records.`,
    ...(others.size === 0 ? [] : ['# No record would change:']),
    ...[...others].map(([what, times]) => `#   ${what}: ${times} times`),
  ]
  // A name must not end its comment.
  return `${lines.map((line) => line.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')).join('\n')}\n`
}
