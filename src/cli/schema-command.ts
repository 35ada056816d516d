import { writeFileSync } from 'node:fs'
import { configJsonSchema } from '../config/config.ts'
import { command } from './command.ts'

export const schemaCommand = command({
  name: 'schema',
  purpose: 'print the JSON schema of the configuration',
  options: { write: { type: 'string', value: 'FILE', purpose: 'write the schema to this file instead' } },
  examples: ['engine-gateway schema > gateway.schema.json'],
  exitCodes: [
    [0, 'the schema was printed or written'],
    [1, 'the file cannot be written'],
    [2, 'invalid arguments'],
  ],
  run: ({ values: { write }, streams: { stdout } }) => {
    const text = `${JSON.stringify(configJsonSchema(), null, 2)}\n`
    if (write === undefined) stdout.write(text)
    else writeFileSync(write, text)
    return 0
  },
})
