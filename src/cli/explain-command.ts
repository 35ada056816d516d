import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { fileReasonOf } from '../config/file-text.ts'
import { messageOf } from '../errors.ts'
import { QuestionError } from '../pipeline/explain.ts'
import { showsNothing, textOfExplained } from '../pipeline/explain-text.ts'
import {
  BODY_OPTION,
  type CommandContext,
  CONFIG_OPTION,
  ENGINE_OPTION,
  FORMAT_OPTION,
  notesText,
} from './command.ts'
import { printResponse } from './output.ts'
import { withExplain } from './with-explain.ts'

export function addExplainCommand(program: Command, context: CommandContext): void {
  program
    .command('explain')
    .description('show whether a user may send a request, and which records decide it')
    .argument('<REQUEST>', '"METHOD /path?query", with or without the base path')
    .addOption(CONFIG_OPTION)
    .requiredOption('-u, --user <ID>', 'the user of the request (required)')
    .addOption(ENGINE_OPTION)
    .addOption(BODY_OPTION)
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async (request, { config, user, engine, body, format }) => {
        const question = { user, engine, request, body: body === undefined ? null : readBody(body) }
        const explained = await withExplain({ file: config, ...context }, ({ explain }) => explain(question))
        printResponse(context, format, { text: () => textOfExplained(explained), json: () => explained })
        return explained.decision === 'permitted' && !showsNothing(explained) ? 0 : 1
      }),
    )
}

const NOTES = {
  about: `The output also shows the missing permissions. The command only reads from the engine, and only the data that
the decision needs. It changes nothing.`,
  examples: [
    'engine-gateway explain --config gateway.yaml --user mary "GET /task"',
    'engine-gateway explain --config gateway.yaml --user mary "POST /signal" --body signal.json',
  ],
  exitCodes: [
    [0, 'permitted'],
    [1, 'refused, or permitted with an empty result'],
    [2, 'no result: invalid arguments, an invalid configuration, or an engine that does not respond'],
  ],
} as const

/** Reads the body of a request from a file. @throws QuestionError */
export function readBody(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    const reason = fileReasonOf(cause)
    throw new QuestionError(reason === null ? messageOf(cause) : `--body: the file ${reason}`, { cause })
  }
}
