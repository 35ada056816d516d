import t from 'tap'
import { isFullyJudged } from '../../../src/policy/validation/validate.ts'
import { readJson } from '../../../src/request/json.ts'
import { operationOf } from './cases/case.ts'

/* test/engine/fetch-of-nothing.test.ts compares such bodies with running engines. */

const operation = operationOf({ operation: 'fetchAndLock' })
const isJudged = (body: unknown, query: ReadonlyMap<string, string> = new Map()) =>
  isFullyJudged(operation, { params: {}, query, body })

const TOPIC = { topicName: 'print', lockDuration: 1000 }
const FETCH = { workerId: 'w', maxTasks: 1, topics: [TOPIC] }

t.test('a fetch that every engine accepts is judged here', (t) => {
  for (const body of [
    FETCH,
    { ...FETCH, asyncResponseTimeout: 1_800_000, usePriority: true },
    { ...FETCH, topics: [TOPIC, { ...TOPIC, processDefinitionKeyIn: ['a'], tenantIdIn: null }] },
    { ...FETCH, topics: [{ ...TOPIC, processVariables: { a: 'x', b: 1, c: null }, variables: [] }] },
  ])
    t.equal(isJudged(body), true, JSON.stringify(body))
  t.end()
})

t.test('only the engine judges a fetch with a missing, unknown or odd member', (t) => {
  for (const body of [
    {},
    { ...FETCH, workerId: '' },
    { ...FETCH, maxTasks: -1 },
    { ...FETCH, maxTasks: '1' },
    { ...FETCH, topics: [] },
    { ...FETCH, asyncResponseTimeout: 1_800_001 },
    { ...FETCH, asyncResponseTimeout: -1 },
    { ...FETCH, ofNewerEngine: 1 },
    { ...FETCH, sorting: [{ sortBy: 'createTime', sortOrder: 'asc' }] },
    { ...FETCH, topics: [{ topicName: 'print' }] },
    { ...FETCH, topics: [{ ...TOPIC, lockDuration: 0 }] },
    { ...FETCH, topics: [{ ...TOPIC, processVariables: { a: {} } }] },
    { ...FETCH, topics: [{ ...TOPIC, ofNewerEngine: 1 }] },
  ])
    t.equal(isJudged(body), false, JSON.stringify(body))
  t.equal(isJudged(FETCH, new Map([['ofNewerEngine', '1']])), false)
  const digits = '{"workerId":"w","maxTasks":1.0,"topics":[{"topicName":"a","lockDuration":1}]}'
  t.equal(isJudged(readJson(Buffer.from(digits))), false)
  t.end()
})
