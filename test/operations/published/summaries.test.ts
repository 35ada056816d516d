import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { SUMMARIES } from '../../../src/operations/published/summaries.ts'

t.test('each operation of the table has a summary, and each summary an operation', (t) => {
  t.same(Object.keys(SUMMARIES).toSorted(), OPERATIONS.map(({ id }) => id).toSorted())
  t.end()
})

t.test('a summary is one sentence of at most 90 characters that begins with a verb', (t) => {
  for (const [id, summary] of Object.entries(SUMMARIES)) {
    t.match(summary, /^[A-Z][a-z]*s (?! )[^.|\n]+[^\s.|]\.$/, id)
    t.ok(summary.length <= 90, `${id}: ${summary.length} characters`)
  }
  t.end()
})

t.test('no two operations have the same summary', (t) => {
  const summaries = Object.values(SUMMARIES)
  t.same(
    summaries.filter((summary, index) => summaries.indexOf(summary) !== index),
    [],
  )
  t.end()
})

const VERBS_OF_READS = /^(Checks|Counts|Generates|Lists|Reports|Returns|Validates) /

t.test('the verb of a summary shows whether the operation reads or writes', (t) => {
  for (const { id, effect } of OPERATIONS) {
    if (effect === 'read') t.match(SUMMARIES[id], VERBS_OF_READS, id)
    else t.notMatch(SUMMARIES[id], /^(Counts|Lists|Returns) /, id)
  }
  t.end()
})
