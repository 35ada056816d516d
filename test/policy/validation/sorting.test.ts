import t from 'tap'
import { DEFER } from '../../../src/policy/validation/schemas/engine-error.ts'
import { sortingFinding } from '../../../src/policy/validation/schemas/sorting.ts'

const SORTS = { by: ['id'], byVariable: ['processVariable'] }

function finding(parameters: unknown) {
  return sortingFinding({ sorting: [{ sortBy: 'processVariable', sortOrder: 'asc', parameters }] }, SORTS)
}

t.test('a sort variable or its type that is not a text is left to the engine', (t) => {
  for (const parameters of [
    { variable: 5, type: 'object' },
    { variable: ['a'], type: 'object' },
    { variable: 'a', type: 5 },
    { variable: 'a', type: '' },
    { type: 5 },
    { variable: 'a', type: 'ofAPlugin' },
  ])
    t.equal(finding(parameters), DEFER, JSON.stringify(parameters))
  t.equal(finding({ variable: 'a', type: 'string' }), null)
  t.match(finding({ variable: 'a', type: 'object' }), {
    status: 500,
    message: { caller: 'Cannot order by variables of type object' },
  })
  t.match(finding({ type: 'string' }), { status: 500, message: 'variableName is null' })
  t.match(finding({ variable: 'a' }), { status: 500, message: 'valueType is null' })
  t.end()
})
