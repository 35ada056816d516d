import { readFileSync } from 'node:fs'
import t from 'tap'
import { COMMANDS_PAGE, commandsPage } from '../../docs/generate-commands.ts'

t.test('docs/commands.md equals the output of npm run docs:commands', (t) => {
  t.equal(readFileSync(COMMANDS_PAGE, 'utf8'), commandsPage())
  t.end()
})
