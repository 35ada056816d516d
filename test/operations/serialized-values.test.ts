import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { publishedOperation } from '../../src/operations/published/facts.ts'
import { serializedValuesOf } from '../../src/operations/serialized-values.ts'

t.test('every published parameter about deserialization gets a value', (t) => {
  const published = OPERATIONS.flatMap(({ id }) =>
    [...(publishedOperation(id)?.query.keys() ?? [])]
      .filter((name) => /deserializ/i.test(name))
      .map((name) => `${id} ${name}`),
  )
  const set = OPERATIONS.flatMap(({ id }) => serializedValuesOf(id).map(([name]) => `${id} ${name}`))
  t.same(
    published.filter((one) => !set.includes(one)),
    [],
  )
  t.same(
    set.filter((one) => !published.includes(one)),
    ['getHistoricVariableInstance deserializeValue'],
    'the engine reads this name, which the API does not have',
  )
  t.ok(published.length > 20)
  t.end()
})

t.test('lists and counts without values of variables get no parameter', (t) => {
  for (const id of [
    'getTasks',
    'getVariableInstancesCount',
    'getHistoricDecisionInstancesCount',
    'startProcessInstance',
  ])
    t.same(serializedValuesOf(id), [], id)
  t.end()
})
