import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { configJsonSchema } from '../config/config.ts'
import { type CommandContext, notesText } from './command.ts'

export function addSchemaCommand(program: Command, { stdout, exits }: CommandContext): void {
  program
    .command('schema')
    .description('print the JSON schema of the configuration')
    .option('--write <FILE>', 'write the schema to this file instead')
    .addHelpText('after', notesText(NOTES))
    .action(
      exits(({ write }) => {
        const text = `${JSON.stringify(configJsonSchema(), null, 2)}\n`
        if (write === undefined) stdout.write(text)
        else writeFileSync(write, text)
        return 0
      }),
    )
}

const NOTES = {
  examples: ['engine-gateway schema > gateway.schema.json'],
  exitCodes: [
    [0, 'the schema was printed or written'],
    [1, 'the file cannot be written'],
    [2, 'invalid arguments'],
  ],
} as const
