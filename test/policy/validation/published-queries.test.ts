import t from 'tap'
import { operatorText, EngineRefusal } from '../../../src/errors.ts'
import { PUBLISHED_IDS, publishedOperation } from '../../../src/operations/published/facts.ts'
import { acceptDateText } from '../../../src/policy/validation/schemas/jackson.ts'
import { checkShape, isFullyJudged } from '../../../src/policy/validation/validate.ts'
import { queryOf } from '../../../src/request/canonical.ts'
import { operationOf } from './cases/case.ts'

/*
 * Query strings of operations whose types follow from the published API alone. test/engine/published/odd-queries.test.ts compares such
 * query strings with a running engine.
 */

/** Query strings that the engine accepts. */
const ACCEPTED: readonly (readonly [operation: string, query: string])[] = [
  ['getJobs', 'active=true&suspended=+true&messages=null&timers=0'],
  ['getJobs', 'priorityLowerThanOrEquals=2147483648&priorityHigherThanOrEquals=1.5'],
  ['getJobs', 'dueDates=gt_2020-01-01T00:00:00.000%2B0000,lt_text'],
  ['getJobs', 'active=true&active=text'],
  ['getJobs', 'noSuchParameter=text&acquired=text'],
  ['getJobs', 'firstResult=%2B1&maxResults='],
  // Another engine may have more criteria.
  ['getJobs', 'sortBy=ofAnotherEngine&sortOrder=asc'],
  // This criterion is not published.
  ['getTasks', 'sortBy=tenantId&sortOrder=asc'],
  ['getDeployments', 'after=2020-01-01T00:00:00.000%2B0000&before=null'],
  ['getExecutions', 'variables=a_eq_b,c_neq_d&variables=text'],
  ['getJobsCount', 'firstResult=text'],
  ['getTaskVariables', 'deserializeValues=text'],
  ['deleteDeployment', 'cascade=text'],
  ['getBatches', 'withFailures=text&startedAfter=text'],
]

/** Query strings that the engine refuses with 400, and the message. */
const REFUSED: readonly (readonly [operation: string, query: string, message: string])[] = [
  [
    'getJobs',
    'active=yes',
    "Cannot set query parameter 'active' to value 'yes': Cannot convert value yes to java type java.lang.Boolean",
  ],
  [
    'getJobs',
    'active=text&active=true',
    "Cannot set query parameter 'active' to value 'text': Cannot convert value text to java type java.lang.Boolean",
  ],
  [
    'getJobs',
    'priorityLowerThanOrEquals=99999999999999999999',
    "Cannot set query parameter 'priorityLowerThanOrEquals' to value '99999999999999999999': Cannot convert value 99999999999999999999 to java type java.lang.Long",
  ],
  [
    'getProcessDefinitions',
    'version=2147483648',
    "Cannot set query parameter 'version' to value '2147483648': Cannot convert value 2147483648 to java type java.lang.Integer",
  ],
  [
    'getDeployments',
    'after=2020-01-01',
    `Cannot set query parameter 'after' to value '2020-01-01': Cannot convert value "2020-01-01" to java type java.util.Date`,
  ],
  [
    'getExecutions',
    'variables=a_eq',
    "Cannot set query parameter 'variables' to value 'a_eq': variable query parameter has to have format KEY_OPERATOR_VALUE.",
  ],
  [
    'getJobs',
    'dueDates=text',
    "Cannot set query parameter 'dueDates' to value 'text': condition query parameter has to have format OPERATOR_VALUE.",
  ],
  ['getJobs', 'sortBy=a,b&sortOrder=asc', "Cannot set query parameter 'sortBy' to value 'a,b'"],
  ['getJobs', 'sortBy=JobId&sortOrder=asc', "Cannot set query parameter 'sortBy' to value 'JobId'"],
  ['getJobsCount', 'sortOrder=ASC', "Cannot set query parameter 'sortOrder' to value 'ASC'"],
  ['getMetrics', 'startDate=text', 'Cannot convert value "text" to java type java.util.Date'],
  ['interval', 'interval=text', 'Cannot convert value text to java type java.lang.Long'],
]

function check(operation: string, query: string, isDate?: (text: string) => boolean): void {
  const received = { params: {}, query: queryOf(`/?${query}`), body: undefined }
  checkShape(operationOf({ operation }), received, isDate)
}

t.test('a query string that the engine accepts passes', async (t) => {
  for (const [operation, query] of ACCEPTED)
    t.doesNotThrow(() => check(operation, query), `${operation} ${query}`)
})

t.test('a query string that the engine refuses is refused in its words', async (t) => {
  for (const [operation, query, message] of REFUSED)
    t.throws(
      () => check(operation, query),
      { code: 'GW_INVALID_QUERY', statusCode: 400, body: { message } },
      `${operation} ${query}`,
    )
})

t.test('every published sort criterion passes', async (t) => {
  let count = 0
  for (const id of PUBLISHED_IDS) {
    const type = publishedOperation(id)?.query.get('sortBy')?.type
    for (const criterion of type?.kind === 'string' ? (type.values ?? []) : []) {
      // These are published for a query string and can only be sent in a body.
      if (criterion.endsWith('Variable')) continue
      t.doesNotThrow(() => check(id, `sortBy=${criterion.trim()}&sortOrder=asc`), `${id} ${criterion}`)
      count += 1
    }
  }
  t.ok(count > 200, `${count} criteria`)
})

t.test('a page that is no number gets 404, whatever else is wrong', async (t) => {
  for (const [operation, query] of [
    ['getJobs', 'firstResult=text'],
    ['getJobs', 'active=text&maxResults=1.5'],
    ['queryJobs', 'maxResults=2147483648'],
  ] as const)
    t.throws(
      () => check(operation, query),
      new EngineRefusal({
        status: 404,
        body: { type: 'QueryParamException', message: 'HTTP 404 Not Found', code: null },
        headers: { 'content-type': 'application/json' },
        reason: operatorText`HTTP 404 Not Found`,
      }),
      query,
    )
})

t.test('a query string with two bad parameters is left to the engine, which names one of them', async (t) => {
  t.doesNotThrow(() => check('getJobs', 'active=text&suspended=text'))
})

t.test('dates are not checked for an engine with another date format', async (t) => {
  t.doesNotThrow(() => check('getDeployments', 'after=31.01.2026', acceptDateText))
})

t.test('a query is judged completely only if rules know all of its parameters', async (t) => {
  for (const [operation, query, isJudged] of [
    ['getTasks', 'priority=5&firstResult=1', true],
    ['getTasks', 'priority=text', false],
    ['getTasks', 'noSuchParameter=5', false],
    // The engine has rules for these parameters besides their types.
    ['getSchemaLog', 'version=5', false],
    ['getHistoricActivityStatistics', 'canceled=true', false],
    ['queryTasks', 'firstResult=1', true],
    ['queryTasks', 'firstResult=text', false],
    ['queryTasks', 'priority=5', false],
    ['getJobs', '', false],
  ] as const) {
    const received = { params: {}, query: queryOf(`/?${query}`), body: undefined }
    t.equal(isFullyJudged(operationOf({ operation }), received), isJudged, `${operation} ${query}`)
  }
})
