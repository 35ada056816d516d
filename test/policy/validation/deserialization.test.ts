import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { withSerializedValues } from '../../../src/policy/validation/deserialization.ts'
import { checkHazards } from '../../../src/policy/validation/hazards.ts'

const NOTHING_ALLOWED = new Set<never>()
const FETCH = { id: 'fetchAndLock', method: 'POST', items: { form: 'locks' } } as const
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
    () => checkHazards({ id: 'other', method: 'POST' }, { query, body: asking }, NOTHING_ALLOWED),
    'other bodies have no such member',
  )
  t.end()
})

function refusal(place: string): GatewayError {
  return new GatewayError('GW_HAZARD', {
    rule: 'deserialization',
    message: `Refused by the rule 'deserialization': ${place}`,
  })
}

t.test('variables of tasks, which the engine adds only as objects, are refused', (t) => {
  for (const name of ['withTaskVariablesInReturn', 'withTaskLocalVariablesInReturn']) {
    for (const value of [true, 'true', 1, '', {}])
      t.throws(
        () =>
          checkHazards(
            { id: 'queryTasks', method: 'POST' },
            { query, body: { [name]: value } },
            NOTHING_ALLOWED,
          ),
        refusal(`$.${name}`),
        JSON.stringify(value),
      )
    for (const id of ['getTask', 'getTasks'])
      for (const value of ['true', 'TRUE', '1', ' '])
        t.throws(
          () =>
            checkHazards(
              { id, method: 'GET' },
              { query: new Map([[name, value]]), body: undefined },
              NOTHING_ALLOWED,
            ),
          refusal(`query parameter ${name}`),
          `${id} ${value}`,
        )
  }
  t.end()
})

t.test('tasks without their variables, and counts of tasks, are not refused', (t) => {
  const name = 'withTaskVariablesInReturn'
  for (const body of [{ [name]: false }, { [name]: null }, { orQueries: [{ [name]: true }] }, {}])
    t.doesNotThrow(() => checkHazards({ id: 'queryTasks', method: 'POST' }, { query, body }, NOTHING_ALLOWED))
  for (const value of ['false', 'False', ''])
    t.doesNotThrow(() =>
      checkHazards(
        { id: 'getTask', method: 'GET' },
        { query: new Map([[name, value]]), body: undefined },
        NOTHING_ALLOWED,
      ),
    )
  const flagged = { query: new Map([[name, 'true']]), body: { [name]: true } }
  for (const [id, method] of [
    ['getTasksCount', 'GET'],
    ['queryTasksCount', 'POST'],
    ['executeFilterList', 'GET'],
  ] as const)
    t.doesNotThrow(() => checkHazards({ id, method }, flagged, NOTHING_ALLOWED), id)
  t.doesNotThrow(() =>
    checkHazards({ id: 'getTask', method: 'GET' }, flagged, new Set(['deserialization'] as const)),
  )
  t.end()
})
