import { readFileSync } from 'node:fs'
import t from 'tap'
import { COMMANDS_PAGE, commandsPage } from '../../docs/generate-commands.ts'

t.test('docs/commands.md is what npm run docs:commands makes', (t) => {
  t.equal(readFileSync(COMMANDS_PAGE, 'utf8'), commandsPage())
  t.end()
})
