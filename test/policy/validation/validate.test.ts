import t from 'tap'
import { acceptDateText } from '../../../src/policy/validation/schemas/jackson.ts'
import { EngineRefusal } from '../../../src/errors.ts'
import { readJson } from '../../../src/request/json.ts'
import { checkRules, checkShape } from '../../../src/policy/validation/validate.ts'
import type { RequestData } from '../../../src/policy/validation/schemas/engine-error.ts'
import type { Case } from './cases/case.ts'
import { operationOf, titleOf } from './cases/case.ts'
import { coercionCases } from './cases/coercions.ts'
import { otherCases } from './cases/others.ts'
import { taskQueryCases } from './cases/task-queries.ts'
import { variableCases } from './cases/variables.ts'
import { cpuMs } from '../../support/cpu-time.ts'

function receivedOf({ params, query, body }: Case): RequestData {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const all = [...new URLSearchParams(query)]
  return { params, query: new Map(all.toReversed()), body: text === undefined ? undefined : JSON.parse(text) }
}

/** Returns what a check throws, or null. */
function thrownBy(check: () => void): unknown {
  try {
    check()
    return null
  } catch (error) {
    return error
  }
}

for (const [name, cases] of Object.entries({ coercionCases, taskQueryCases, variableCases, otherCases })) {
  t.test(`${name} get the response of the engine if the gateway decides them`, async (t) => {
    for (const one of cases) {
      const operation = operationOf(one)
      const received = receivedOf(one)
      const early = thrownBy(() => checkShape(operation, received))
      const late = thrownBy(() => checkRules(operation, received))
      const isTold = typeof one.engine !== 'number'
      const thrown = one.after === 0 ? early : late
      t.equal(one.after === 0 || early === null, true, `not too early: ${titleOf(one)}`)
      t.equal(thrown === null, !isTold, titleOf(one))
      if (typeof one.engine !== 'object') continue
      const { status, ...body } = one.engine
      const { statusCode, body: answered } = Object(thrown)
      t.same({ status: statusCode, ...answered }, { status, ...body }, titleOf(one))
      if (one.after > 0)
        t.equal(
          thrownBy(() => checkRules(operation, received, { passed: one.after })) !== null,
          true,
          'at its own place',
        )
    }
  })
}

t.test('a rule before a refusal is applied only if that check refuses', async (t) => {
  const operation = operationOf({ operation: 'updateAuthorization' })
  const received = { params: { id: 'a' }, query: new Map(), body: { permissions: ['NOPE'], resourceType: 7 } }
  t.match(
    thrownBy(() => checkRules(operation, received, { refused: 1 })),
    { statusCode: 400, body: { message: "The permission 'NOPE' is not valid for 'TASK' resource type." } },
  )
  t.doesNotThrow(() => checkRules(operation, received, { refused: 0 }))
  t.doesNotThrow(() => checkRules(operation, received, { passed: 1 }))
  t.doesNotThrow(() => checkRules(operation, received))
})

t.test('a rule between two permission checks is applied only there', async (t) => {
  const operation = operationOf({ operation: 'updateTask' })
  const received = { params: { id: 'a' }, query: new Map(), body: { delegationState: 'x' } }
  t.throws(() => checkRules(operation, received, { passed: 1 }), { statusCode: 400, code: 'GW_INVALID_BODY' })
  t.doesNotThrow(() => checkRules(operation, received, { passed: 2 }))
})

t.test('a body that cannot be mapped is refused with the path of the first fault', async (t) => {
  const operation = operationOf({ operation: 'queryTasks' })
  const body = { orQueries: [{ taskVariables: [{ name: [] }] }] }
  t.throws(() => checkShape(operation, { params: {}, query: new Map(), body }), {
    code: 'GW_INVALID_BODY',
    message: /\$\.orQueries\[0\]\.taskVariables\[0\]\.name: is not a string/,
  })
})

t.test('an empty body is checked as an empty object', async (t) => {
  const operation = operationOf({ operation: 'throwSignal' })
  const received = { params: {}, query: new Map(), body: undefined }
  t.throws(() => checkShape(operation, received), { message: 'No signal name given' })
})

t.test('an empty body that fails as an object is left to the engine, whose 400 comes first', async (t) => {
  for (const name of ['createAuthorization', 'executeMigrationPlan', 'executeMigrationPlanAsync']) {
    const operation = operationOf({ operation: name })
    const received = { params: {}, query: new Map(), body: undefined }
    t.doesNotThrow(() => checkShape(operation, received), name)
    t.doesNotThrow(() => checkRules(operation, received), name)
    t.match(
      thrownBy(() => checkShape(operation, { ...received, body: {} })),
      { statusCode: 500 },
      name,
    )
  }
})

t.test('topic names of tasks that are both locked and unlocked are an empty list', async (t) => {
  const operation = operationOf({ operation: 'getTopicNames' })
  const query = new Map([
    ['withLockedTasks', 'true'],
    ['withUnlockedTasks', 'TRUE'],
  ])
  const thrown = thrownBy(() => checkShape(operation, { params: {}, query, body: undefined }))
  t.equal(thrown instanceof EngineRefusal, true)
  t.match(thrown, { statusCode: 200, body: [] })
})

t.test('a query of hundreds of nested subqueries is refused and does not crash', async (t) => {
  let body: unknown = {}
  for (let depth = 0; depth < 495; depth += 1) body = { orQueries: [body] }
  const operation = operationOf({ operation: 'queryTasks' })
  t.throws(() => checkShape(operation, { params: {}, query: new Map(), body }), { code: 'GW_INVALID_BODY' })
})

t.test('a boolean variable must be a boolean or a text for one', async (t) => {
  const operation = operationOf({ operation: 'throwSignal' })
  const refusalOf = (value: unknown) => {
    const body = { name: 'a', variables: { v: { type: 'Boolean', value } } }
    return thrownBy(() => checkShape(operation, { params: {}, query: new Map(), body }))
  }
  for (const value of [true, false, 'true']) t.equal(refusalOf(value), null, JSON.stringify(value))
  for (const value of [{}, 'maybe']) t.not(refusalOf(value), null, JSON.stringify(value))
})

t.test('the time of a check is bounded for every text', async (t) => {
  const started = cpuMs()
  for (const text of [
    ' '.repeat(200_000),
    '1'.repeat(200_000),
    '1e'.repeat(100_000),
    `2020${' '.repeat(200_000)}`,
  ])
    for (const type of ['Boolean', 'Bytes', 'Date', 'Double', 'Long']) {
      const body = { name: 'a', variables: { v: { type, value: `${text}x` } } }
      t.throws(() =>
        checkShape(operationOf({ operation: 'throwSignal' }), { params: {}, query: new Map(), body }),
      )
    }
  t.equal(cpuMs() - started < 5000, true)
})

function thrownFor(body: string): unknown {
  const received = { params: {}, query: new Map<string, string>(), body: readJson(Buffer.from(body)) }
  return thrownBy(() => checkShape(operationOf({ operation: 'queryTasksCount' }), received))
}

t.test('a number that changes its notation when copied is left to the engine', async (t) => {
  t.match(thrownFor('{"includeAssignedTasks":1}'), EngineRefusal)
  t.match(thrownFor('{"taskVariables":[{"name":"a","operator":5}]}'), {
    body: { message: 'Invalid task variable comparator specified: 5' },
  })
  for (const body of [
    '{"includeAssignedTasks":1.0}',
    '{"taskVariables":[{"name":"a","operator":5e0}]}',
    '{"withoutTenantId":1e0,"taskVariables":[{"name":"a","operator":"x"}]}',
  ])
    t.equal(thrownFor(body), null, body)
  t.match(
    thrownFor('{"priority":"x","minPriority":1.0}'),
    { code: 'GW_INVALID_BODY' },
    'its shape is known all the same',
  )
})

t.test('dates are left to an engine whose date format is not the default', async (t) => {
  const none = { params: { id: 'a', varName: 'when' }, query: new Map<string, string>() }
  const requests = [
    {
      operation: 'queryTasks',
      received: { ...none, body: { dueBefore: '31.01.2026', orQueries: [{ due: '1' }] } },
    },
    { operation: 'updateTask', received: { ...none, body: { due: '31.01.2026' } } },
    {
      operation: 'setProcessInstanceVariable',
      received: { ...none, body: { type: 'Date', value: '31.01.2026' } },
    },
    {
      operation: 'getTasks',
      received: { ...none, query: new Map([['dueBefore', '31.01.2026']]), body: undefined },
    },
  ]
  for (const { operation: id, received } of requests) {
    const operation = operationOf({ operation: id })
    t.throws(() => checkShape(operation, received), { statusCode: 400, message: /./ })
    t.doesNotThrow(() => checkShape(operation, received, acceptDateText), id)
  }
})

t.test('other types are checked for an engine whose date format is not the default', async (t) => {
  const received = { params: {}, query: new Map(), body: { due: '31.01.2026', priority: 'high' } }
  t.throws(() => checkShape(operationOf({ operation: 'updateTask' }), received, acceptDateText), {
    code: 'GW_INVALID_BODY',
    body: { message: /priority/ },
  })
})
