import { readFileSync } from 'node:fs'
import t from 'tap'
import { OPERATIONS_PAGE, operationsPage } from '../../docs/generate-operations.ts'
import { OPERATIONS } from '../../src/operations/all.ts'

const page = operationsPage()

t.test('docs/operations.md is up to date with the table of operations', (t) => {
  t.equal(readFileSync(OPERATIONS_PAGE, 'utf8'), page)
  t.end()
})

t.test('the page on operations has one row for each operation, without gaps', (t) => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  t.equal(rows.length, OPERATIONS.length)
  t.equal(new Set(rows.map((row) => row.split('|')[1])).size, OPERATIONS.length)
  for (const row of rows) t.notMatch(row, /undefined|unknown|: *\||\| \| (?!\|)/, row)
  t.end()
})
