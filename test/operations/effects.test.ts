import { readFileSync } from 'node:fs'
import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { CHECKED_COMMANDS, OPEN_COMMANDS } from '../../src/operations/job-command-names.ts'
import { COMMAND_CHECKS } from '../../src/operations/job-commands.ts'

const PAGE = readFileSync(new URL('../../docs/effects.md', import.meta.url), 'utf8')

/** The names in the first column of a table, which are formatted as code. */
const NAMED = PAGE.split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name))

t.test('every operation that is not a pure read is listed once on the page of effects', (t) => {
  const writes = OPERATIONS.filter(({ effect }) => effect === 'write').map(({ id }) => id)
  const operations = NAMED.filter((name) => !name.includes('-'))
  t.same(operations.toSorted(), writes.toSorted())
  t.end()
})

t.test('every command of a job is listed once on the page of effects', (t) => {
  const commands = NAMED.filter((name) => name.includes('-'))
  t.same(commands.toSorted(), [...CHECKED_COMMANDS, ...OPEN_COMMANDS].toSorted())
  t.end()
})

t.test('every checked job command has a check, and no other command has one', (t) => {
  const asked = COMMAND_CHECKS.flatMap(({ when }) => when.replace('the job runs ', '').split(' or '))
  t.same([...new Set(asked)].toSorted(), [...CHECKED_COMMANDS, 'an unknown command'].toSorted())
  t.end()
})
