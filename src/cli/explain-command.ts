import { readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { type WithExplain, type Question, QuestionError } from '../pipeline/explain.ts'
import { DEFAULT_ENGINE } from '../pipeline/match.ts'
import { readArguments, UsageError } from './arguments.ts'
import { showsNothing, textOfExplained } from '../pipeline/explain-text.ts'
import { complaintOf } from './command-failure.ts'

export interface ExplainStreams {
  readonly stdout: Writable
  readonly stderr: Writable
}

const USAGE = `Usage: engine-gateway explain --config FILE --user ID [--engine NAME] "METHOD /path?query" [--body FILE] [--json]

Says whether a user may do something, which records decide it, and what would have to be granted. The engine is
asked only what a decision needs to know of it; nothing is done there.
`

export const EXPLAIN_OPTIONS = {
  config: { type: 'string', short: 'c' },
  user: { type: 'string', short: 'u' },
  engine: { type: 'string', short: 'e' },
  body: { type: 'string', short: 'b' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** `engine-gateway explain`. Returns the exit code: 0 permitted, 1 refused or no row is seen, 2 no answer. */
export async function explainCommand(
  argv: readonly string[],
  { stdout, stderr }: ExplainStreams,
  withExplain: WithExplain,
): Promise<number> {
  try {
    const options = optionsOf(argv)
    if (options === null) {
      stdout.write(USAGE)
      return 0
    }
    const { config, json, ...question } = options
    const explained = await withExplain(config, (explain) => explain(question))
    stdout.write(json ? `${JSON.stringify(explained, null, 2)}\n` : textOfExplained(explained))
    return explained.decision === 'permitted' && !showsNothing(explained) ? 0 : 1
  } catch (error) {
    stderr.write(complaintOf(error, USAGE))
    return 2
  }
}

interface Options extends Question {
  readonly config: string
  readonly json: boolean
}

/** Null: only help is asked for. @throws UsageError; QuestionError when the body's file cannot be read */
function optionsOf(argv: readonly string[]): Options | null {
  const { values, positionals } = readArguments(() =>
    parseArgs({ args: [...argv], allowPositionals: true, options: EXPLAIN_OPTIONS }),
  )
  const { config, user, engine = DEFAULT_ENGINE, body, json = false, help } = values
  if (help === true) return null
  const [request, ...rest] = positionals
  if (config === undefined || user === undefined || request === undefined || rest.length > 0)
    throw new UsageError('--config FILE, --user ID and one request are needed')
  return { config, user, engine, request, json, body: body === undefined ? null : readBody(body) }
}

function readBody(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new QuestionError(cause instanceof Error ? cause.message : file, { cause })
  }
}
