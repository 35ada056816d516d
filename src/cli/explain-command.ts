import { readFileSync } from 'node:fs'
import { QuestionError } from '../pipeline/explain.ts'
import { showsNothing, textOfExplained } from '../pipeline/explain-text.ts'
import { BODY_OPTION, command, CONFIG_OPTION, ENGINE_OPTION, FORMAT_OPTION } from './command.ts'
import { printResponse } from './output.ts'
import { withExplain } from './with-explain.ts'

export const explainCommand = command({
  name: 'explain',
  purpose: 'show whether a user may send a request, and which records decide it',
  about:
    'The output also shows the missing permissions. The command only reads from the engine, and only the data that\nthe decision needs. It changes nothing.',
  operands: [{ name: 'REQUEST', purpose: '"METHOD /path?query", with or without the base path' }],
  options: {
    config: CONFIG_OPTION,
    user: { type: 'string', short: 'u', value: 'ID', required: true, purpose: 'the user of the request' },
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
    [1, 'refused, or permitted with an empty result'],
    [2, 'no result: invalid arguments, an invalid configuration, or an engine that does not respond'],
  ],
  failure: 2,
  run: async ({ values, operands, streams, program }) => {
    const { config, user, engine, body, format } = values
    const [request = ''] = operands
    const question = { user, engine, request, body: body === undefined ? null : readBody(body) }
    const explained = await withExplain({ file: config, ...program }, ({ explain }) => explain(question))
    printResponse(streams, format, { text: () => textOfExplained(explained), json: () => explained })
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
