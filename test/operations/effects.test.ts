import { readFileSync } from 'node:fs'
import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { CHECKED_COMMANDS, OPEN_COMMANDS } from '../../src/operations/job-command-names.ts'
import { COMMAND_CHECKS } from '../../src/operations/job-commands.ts'

const PAGE = readFileSync(new URL('../../docs/effects.md', import.meta.url), 'utf8')

/** What stands as code in the first column of a table. */
const NAMED = PAGE.split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name))

t.test('every operation that is no pure read stands on the page of effects, once', (t) => {
  const writes = OPERATIONS.filter(({ retry }) => retry === 'unsent').map(({ id }) => id)
  const operations = NAMED.filter((name) => !name.includes('-'))
  t.same(operations.toSorted(), writes.toSorted())
  t.end()
})

t.test('and so does every command of a job', (t) => {
  const commands = NAMED.filter((name) => name.includes('-'))
  t.same(commands.toSorted(), [...CHECKED_COMMANDS, ...OPEN_COMMANDS].toSorted())
  t.end()
})

t.test('every command that asks for something has a check, and the others have none', (t) => {
  const asked = COMMAND_CHECKS.flatMap(({ when }) => when.replace('the job runs ', '').split(' or '))
  t.same([...new Set(asked)].toSorted(), [...CHECKED_COMMANDS, 'an unknown command'].toSorted())
  t.end()
})
