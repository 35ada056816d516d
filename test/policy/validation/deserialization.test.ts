import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { withSerializedValues } from '../../../src/policy/validation/deserialization.ts'
import { checkHazards } from '../../../src/policy/validation/hazards.ts'

const NOTHING_ALLOWED = new Set<never>()
const FETCH = { items: { form: 'locks' } } as const
const query = new Map<string, string>()

t.test('a query string requests text exactly once, and keeps all other parameters', (t) => {
  for (const [id, search, sent] of [
    ['getTaskVariables', '', '?deserializeValues=false'],
    ['getTaskVariables', '?variableNames=a%2Cb', '?variableNames=a%2Cb&deserializeValues=false'],
    ['getTaskVariable', '?deserializeValue=true&deserializeValue=false&x', '?x&deserializeValue=false'],
    ['getTaskVariable', '?%64eserializeValue=TRUE', '?deserializeValue=false'],
    ['getTaskVariable', '?deserializeValue=', '?deserializeValue=false'],
    [
      'getHistoricDecisionInstances',
      '?includeInputs=true',
      '?includeInputs=true&disableCustomObjectDeserialization=true',
    ],
    ['getTasks', '?deserializeValues=true', '?deserializeValues=true'],
  ] as const)
    t.equal(withSerializedValues({ id }, search), sent, `${id} ${search}`)
  t.end()
})

t.test('a topic that requests objects is refused, whatever value the engine would read as true', (t) => {
  for (const value of [true, 'true', 1, 'yes', {}])
    t.throws(
      () =>
        checkHazards(FETCH, { query, body: { topics: [{}, { deserializeValues: value }] } }, NOTHING_ALLOWED),
      new GatewayError('GW_HAZARD', {
        rule: 'deserialization',
        message: "Refused by the rule 'deserialization': $.topics[1].deserializeValues",
      }),
      JSON.stringify(value),
    )
  for (const topics of [[{ deserializeValues: false }, { deserializeValues: null }, {}], [], null, 'x'])
    t.doesNotThrow(() => checkHazards(FETCH, { query, body: { topics } }, NOTHING_ALLOWED))
  const asking = { topics: [{ deserializeValues: true }] }
  t.doesNotThrow(() => checkHazards(FETCH, { query, body: asking }, new Set(['deserialization'] as const)))
  t.doesNotThrow(
    () => checkHazards({}, { query, body: asking }, NOTHING_ALLOWED),
    'other bodies have no such member',
  )
  t.end()
})
