import t from 'tap'
import { effectiveQuery } from '../../../src/lists/rewrite/stored-query.ts'

const a = (value: number) => ({ name: 'a', operator: 'eq', value })
const b = { name: 'b', operator: 'eq', value: 0 }

// Compared with Camunda 7.24.0 and Operaton 1.0.3.
const CASES = [
  { stored: { name: 'x', owner: 'o' }, extending: { name: 'y' }, result: { name: 'y', owner: 'o' } },
  {
    stored: { unassigned: true, name: 'x' },
    extending: { unassigned: false, name: null },
    result: { unassigned: true, name: 'x' },
  },
  {
    stored: { candidateGroups: ['g1'] },
    extending: { candidateGroups: ['g2'] },
    result: { candidateGroups: ['g2'] },
  },
  { stored: { sorting: [1] }, extending: { sorting: [2] }, result: { sorting: [1, 2] } },
  { stored: { sorting: [1] }, extending: { sorting: [] }, result: { sorting: [1] } },
  {
    stored: { orQueries: [{ name: 'x' }] },
    extending: { orQueries: [{ name: 'y' }] },
    result: { orQueries: [{ name: 'x' }, { name: 'y' }] },
  },
  {
    stored: { taskVariables: [a(0)] },
    extending: { taskVariables: [a(1)] },
    result: { taskVariables: [a(1)] },
  },
  {
    stored: { taskVariables: [a(0)] },
    extending: { taskVariables: [b] },
    result: { taskVariables: [a(0), b] },
  },
  {
    stored: { taskVariables: [a(0)] },
    extending: { processVariables: [a(1)] },
    result: { taskVariables: [a(0)], processVariables: [a(1)] },
  },
]

for (const { stored, extending, result } of CASES)
  t.test(`a filter ${JSON.stringify(stored)} is extended by ${JSON.stringify(extending)}`, async (t) => {
    t.same(effectiveQuery(stored, extending), result)
  })
