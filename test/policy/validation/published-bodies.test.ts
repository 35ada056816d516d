import t from 'tap'
import { acceptDateText } from '../../../src/policy/validation/schemas/jackson.ts'
import { checkRules, checkShape } from '../../../src/policy/validation/validate.ts'
import { operationOf } from './cases/case.ts'

/*
 * Bodies of operations whose types follow from the published API alone. test/engine/published/odd-bodies.test.ts compares such bodies
 * with a running engine.
 */

/** Bodies that the engine's JSON reader accepts. */
const ACCEPTED: readonly (readonly [operation: string, body: unknown])[] = [
  // Scalars are converted, and a member that the operation does not have is ignored.
  ['queryJobs', { jobId: 5, active: 'TRUE', priorityHigherThanOrEquals: '7', messages: 1, other: [] }],
  ['queryJobs', { jobId: null, active: '', jobIds: [null, 5], sorting: [null, {}] }],
  ['setJobRetries', { retries: '2147483647', dueDate: '2026-01-31T00:00:00.000+0000' }],
  ['setJobPriority', { priority: 2147483648 }],
  // Only some engines have these members.
  ['queryJobs', { acquired: [] }],
  ['queryExternalTasks', { processDefinitionKeyIn: 'text' }],
  ['createTask', { camundaFormRef: 'text' }],
  // Any value can be the value of a variable or of a condition.
  ['queryHistoricVariableInstances', { variableValue: ['text'] }],
  ['queryJobs', { dueDates: [{ operator: 'gt', value: [] }] }],
  ['startProcessInstance', { variables: { a: { value: [{}], type: null }, b: null } }],
  [
    'modifyProcessInstance',
    { instructions: [{ type: 'cancel', variables: { a: { value: {}, local: 'true' } } }] },
  ],
  // The engine reads these later, with messages of its own.
  ['updateProcessDefinitionSuspensionState', { executionDate: 'text' }],
  ['createFilter', { query: 'text' }],
  ['queryHistoricProcessInstances', { incidentStatus: 'text' }],
  // This body is no query, and has no members of these names.
  ['fetchAndLock', { sortBy: null }],
  // Another engine may have more criteria.
  ['queryJobs', { sortBy: 'ofAnotherEngine' }],
  // A single value is also a body.
  ['updateHistoryTimeToLiveByProcessDefinitionId', 5],
  ['updateHistoryTimeToLiveByProcessDefinitionId', '5'],
  ['configureTelemetry', true],
]

/** Bodies that the engine's JSON reader refuses, with the gateway's message. */
const REFUSED: readonly (readonly [operation: string, body: unknown, message: string])[] = [
  ['queryJobs', { jobId: {} }, '$.jobId: is not a string'],
  ['queryJobs', { active: 'yes' }, '$.active: is not a boolean'],
  ['queryJobs', { jobIds: 'text' }, '$.jobIds: Invalid input: expected array, received string'],
  ['queryJobs', { jobIds: [{}] }, '$.jobIds[0]: is not a string'],
  ['queryJobs', { sortBy: null }, '$.sortBy: is not a legal value'],
  ['queryJobs', { sortBy: '' }, '$.sortBy: is not a legal value'],
  ['queryJobs', { sortBy: '5' }, '$.sortBy: is not a legal value'],
  ['queryJobs', { sortBy: 'JobId' }, '$.sortBy: is not a legal value'],
  [
    'deleteAsync',
    { historicDecisionInstanceQuery: { sortBy: null } },
    '$.historicDecisionInstanceQuery.sortBy: is not a legal value',
  ],
  // These members are not published.
  ['queryTasks', { followUpBefore: 'text' }, '$.followUpBefore: is not a date'],
  ['queryTasks', { created: 'text' }, '$.created: is not a date'],
  ['updateAuthorization', { removalTime: 'text' }, '$.removalTime: is not a date'],
  [
    'executeMigrationPlan',
    { processInstanceQuery: { sorting: 5 } },
    '$.processInstanceQuery.sorting: Invalid input',
  ],
  ['queryJobs', { sortOrder: 'up' }, '$.sortOrder: is not a legal value'],
  ['queryJobs', { sorting: [{ sortOrder: [] }] }, '$.sorting[0].sortOrder: is not a string'],
  ['setJobRetries', { retries: 2147483648 }, '$.retries: is not an integer'],
  ['setJobPriority', { priority: true }, '$.priority: is not a long integer'],
  ['setJobDuedate', { duedate: '2026-01-31' }, '$.duedate: is not a date'],
  ['createUser', { profile: { id: [] } }, '$.profile.id: is not a string'],
  ['startProcessInstance', { variables: { a: 1 } }, '$.variables.a: Invalid input: expected object'],
  ['startProcessInstance', { variables: [] }, '$.variables: is not an object'],
  ['putTaskVariable', { valueInfo: 'text' }, '$.valueInfo: is not an object'],
  [
    'modifyProcessInstance',
    { instructions: [{ variables: { a: { local: 'x' } } }] },
    '$.instructions[0].variables.a.local: is not a boolean',
  ],
  [
    'queryHistoricProcessInstances',
    { orQueries: [{ orQueries: [{ startedAfter: true }] }] },
    '$.orQueries[0].orQueries[0].startedAfter: is not a date',
  ],
  ['claim', ['demo'], '$: Invalid input: expected object, received array'],
  ['claim', 'demo', '$: Invalid input: expected object, received string'],
  ['updateHistoryTimeToLiveByProcessDefinitionId', true, '$: is not an integer'],
  ['configureTelemetry', 'text', '$: is not a boolean'],
  ['updateHistoryTimeToLiveByProcessDefinitionId', [5], '$: Invalid input: expected object, received array'],
]

t.test('a body that the engine can read passes', async (t) => {
  for (const [operation, body] of ACCEPTED)
    t.doesNotThrow(() => checkShape(operationOf({ operation }), dataOf(body)), titleOf(operation, body))
})

t.test('a body that the engine cannot read is refused with the place of the first wrong value', async (t) => {
  for (const [operation, body, message] of REFUSED) {
    const check = () => checkShape(operationOf({ operation }), dataOf(body))
    t.throws(check, { code: 'GW_INVALID_BODY', statusCode: 400 }, titleOf(operation, body))
    t.throws(check, {
      code: 'GW_INVALID_BODY',
      body: { message: `The request body does not match the operation: ${message}` },
    })
  }
})

t.test(
  'a body for a definition key is checked after the permission, because the engine looks up the key first',
  async (t) => {
    const operation = operationOf({ operation: 'startProcessInstanceByKey' })
    const received = dataOf({ variables: [] })
    t.doesNotThrow(() => checkShape(operation, received))
    t.throws(() => checkRules(operation, received), { code: 'GW_INVALID_BODY' })
    t.doesNotThrow(() => checkRules(operation, dataOf({ variables: {} })))
  },
)

t.test('dates are not checked for an engine with another date format', async (t) => {
  const operation = operationOf({ operation: 'setJobDuedate' })
  t.doesNotThrow(() => checkShape(operation, dataOf({ duedate: '31.01.2026' }), acceptDateText))
})

t.test('a body of an operation that only newer engines have is left to the engine', async (t) => {
  const operation = operationOf({ operation: 'updateTaskComment' })
  t.doesNotThrow(() => checkShape(operation, dataOf({ message: {} })))
})

function dataOf(body: unknown) {
  return { params: {}, query: new Map<string, string>(), body }
}

function titleOf(operation: string, body: unknown): string {
  return `${operation} ${JSON.stringify(body)}`
}
