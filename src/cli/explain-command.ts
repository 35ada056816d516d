import { readFileSync } from 'node:fs'
import { QuestionError } from '../pipeline/explain.ts'
import { showsNothing, textOfExplained } from '../pipeline/explain-text.ts'
import { BODY_OPTION, command, CONFIG_OPTION, ENGINE_OPTION, FORMAT_OPTION } from './command.ts'
import { printAnswer } from './output.ts'
import { withExplain } from './with-explain.ts'

export const explainCommand = command({
  name: 'explain',
  purpose: 'say whether a user may do something, and which records decide it',
  about:
    'Also says what would have to be granted. The engine is asked only what a decision needs to know of it;\nnothing is done there.',
  operands: [{ name: 'REQUEST', purpose: '"METHOD /path?query", with or without the base path' }],
  options: {
    config: CONFIG_OPTION,
    user: { type: 'string', short: 'u', value: 'ID', required: true, purpose: 'the user who would ask' },
    engine: ENGINE_OPTION,
    body: BODY_OPTION,
    format: FORMAT_OPTION,
  },
  examples: [
    'engine-gateway explain --config gateway.yaml --user mary "GET /task"',
    'engine-gateway explain --config gateway.yaml --user mary "POST /signal" --body signal.json',
  ],
  exitCodes: [
    [0, 'permitted'],
    [1, 'refused, or permitted and no row is answered'],
    [2, 'no answer: invalid arguments, a mistake in the configuration, or an engine that does not answer'],
  ],
  failure: 2,
  run: async ({ values, operands, streams, program }) => {
    const { config, user, engine, body, format } = values
    const [request = ''] = operands
    const question = { user, engine, request, body: body === undefined ? null : readBody(body) }
    const explained = await withExplain({ file: config, ...program }, ({ explain }) => explain(question))
    printAnswer(streams, format, { text: () => textOfExplained(explained), json: () => explained })
    return explained.decision === 'permitted' && !showsNothing(explained) ? 0 : 1
  },
})

/** Reads the body of a request from a file. @throws QuestionError */
export function readBody(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    throw new QuestionError(cause instanceof Error ? cause.message : file, { cause })
  }
}
