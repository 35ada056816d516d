import t from 'tap'
import { GatewayError, operatorText, ownText } from '../../../src/errors.ts'
import { withSerializedValues } from '../../../src/policy/validation/deserialization.ts'
import { checkHazards } from '../../../src/policy/validation/hazards.ts'

const NOTHING_ALLOWED = { allowedHazards: new Set<never>(), allowedExpressions: new Set<never>() }
const DESERIALIZATION_ALLOWED = { ...NOTHING_ALLOWED, allowedHazards: new Set(['deserialization'] as const) }
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

function refusal(place: string): GatewayError {
  return new GatewayError('GW_HAZARD', {
    rule: operatorText`deserialization`,
    message: operatorText`Refused by the rule 'deserialization': ${ownText(place)}`,
  })
}

t.test('an odd value is refused that the engine may read as a request for variables of tasks', (t) => {
  for (const name of ['withTaskVariablesInReturn', 'withTaskLocalVariablesInReturn']) {
    for (const value of ['TRUE', 1, '', {}, []])
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
      for (const value of ['TRUE', '1', ' '])
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

t.test('tasks with and without their variables, and counts of tasks, are not refused', (t) => {
  const name = 'withTaskVariablesInReturn'
  for (const body of [
    { [name]: true },
    { [name]: 'true' },
    { [name]: false },
    { [name]: null },
    { orQueries: [{ [name]: true }] },
    {},
  ])
    t.doesNotThrow(() => checkHazards({ id: 'queryTasks', method: 'POST' }, { query, body }, NOTHING_ALLOWED))
  for (const value of ['true', 'false', 'False', ''])
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
  t.doesNotThrow(() => checkHazards({ id: 'getTask', method: 'GET' }, flagged, DESERIALIZATION_ALLOWED))
  t.end()
})
