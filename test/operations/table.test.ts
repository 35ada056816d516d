import { readdirSync } from 'node:fs'
import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Method, Operation } from '../../src/operations/table.ts'
import { operationsOf } from '../../src/operations/compile-table.ts'
import { isRecord } from '../../src/request/value.ts'

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']

/** The operations of Camunda 7.22. A few operations of the table exist only in forks and newer engines. */
const PUBLISHED = OPERATIONS.filter(
  ({ only, unpublished }) => only === undefined && unpublished === undefined,
)
const FOLDER = new URL('../../src/operations/rows/', import.meta.url)

t.test('the table has 393 published operations, two unpublished ones and eight of newer engines', (t) => {
  const counts = METHODS.map((method) => [method, where((row) => row.method === method).length])
  t.same(Object.fromEntries(counts), { GET: 195, POST: 115, PUT: 42, DELETE: 28, OPTIONS: 13 })
  t.equal(PUBLISHED.length, 393)
  t.same(
    OPERATIONS.filter(({ unpublished }) => unpublished === true).map(({ id }) => id),
    ['deleteAllProcessDefinitionsByKey', 'deleteAllProcessDefinitionsByKeyAndTenantId'],
  )
  t.equal(OPERATIONS.filter(({ only }) => only !== undefined).length, 8)
  t.equal(new Set(PUBLISHED.map(({ template }) => template)).size, 304)
  t.end()
})

t.test('no two paths differ only in the name of a parameter', (t) => {
  const shapes = new Set(OPERATIONS.map(({ template }) => template))
  t.equal(new Set([...shapes].map((template) => template.replace(/:\w+/g, ':'))).size, shapes.size)
  t.end()
})

t.test('parameters are in camelCase, and other segments are lower-case words', (t) => {
  const other = where(({ template }) => !/^(\/(:[a-z][A-Za-z]*|[a-z][A-Za-z]*(-[a-z]+)*))+$/.test(template))
  t.same(other, [])
  t.end()
})

t.test('a duplicate name or route is refused', (t) => {
  const row = { route: 'GET /a', checks: [] } as const
  t.throws(() => operationsOf([{ one: row }, { other: row }]), /twice/)
  t.throws(() => operationsOf([{ one: row }, { one: { ...row, route: 'GET /b' } }]), /twice/)
  t.end()
})

t.test('the operations of a file are sorted by path and method', async (t) => {
  for (const { file, routes } of await routesByFile()) {
    const places = routes.map(placeOf)
    t.ok(places.length > 0)
    t.same(places, places.toSorted(byPlace), file)
  }
})

t.test('a read may be repeated, and a write only if no byte of it was sent', (t) => {
  for (const { id, effect, retry } of OPERATIONS) t.equal(retry, effect === 'read' ? 'always' : 'unsent', id)
  t.end()
})

t.test('244 operations are pure reads: all GET and OPTIONS, and 36 queries by POST', (t) => {
  const reads = where(({ effect }) => effect === 'read')
  t.equal(reads.length, 244)
  t.same(
    METHODS.map((method) => reads.filter((row) => row.method === method).length),
    [195, 36, 0, 0, 13],
  )
  t.end()
})

t.test('only reads that do not filter items by caller are cached for others', (t) => {
  for (const { id, method, effect, rows, links } of where(({ cache }) => cache !== undefined)) {
    t.match({ method, effect }, { method: 'GET', effect: 'read' }, id)
    t.equal(links, undefined, `${id}: links show the address that one client used`)
    if (rows !== undefined)
      t.equal(id, 'getTopicNames', 'whoever does not see all of them is answered before')
  }
  t.end()
})

t.test('a count has the checks of its list, and a query by POST those of the query by GET', (t) => {
  const rowOf = new Map(OPERATIONS.map((row) => [`${row.method} ${row.template}`, row]))
  const counts = where(({ template }) => template.endsWith('/count'))
  t.ok(counts.length > 50)
  for (const count of counts) {
    const path = count.template.slice(0, -'/count'.length)
    const list = rowOf.get(`${count.method} ${path === '/filter/:id' ? `${path}/list` : path}`)
    t.same(restrictionOf(count), list === undefined ? 'no list' : restrictionOf(list), count.id)
    if (count.rows !== undefined) t.equal(count.rows.form, 'count', count.id)
  }
  const queries = where(({ method, rows }) => method === 'POST' && rows !== undefined)
  for (const query of queries) {
    const read = rowOf.get(`GET ${query.template}`)
    if (read !== undefined) t.same(restrictionOf(query), restrictionOf(read), query.id)
  }
  t.end()
})

/** Returns the checks of an operation and the restrictions of its items. */
function restrictionOf({ checks, entity, notFound, rows = {} }: Operation) {
  const { anyOf, allOf, oneRecord, and, where: condition, exempt, tenants } = rows
  return { checks, entity, notFound, anyOf, allOf, oneRecord, and, condition, exempt, tenants }
}

t.test('every write that evicts names tags of cached responses', (t) => {
  const tags = new Set(OPERATIONS.flatMap(({ cache }) => cache?.tags ?? []))
  const evicting = where(({ evicts }) => evicts !== undefined)
  t.ok(evicting.length > 0)
  for (const { id, effect, evicts = [] } of evicting) {
    t.equal(effect, 'write', id)
    for (const tag of evicts) t.ok(tags.has(tag), `${id} ${tag}`)
  }
  t.end()
})

t.test(
  'only operations that start or advance a process, uncached and unfiltered, honor an idempotency key',
  (t) => {
    const heeding = where(({ idempotencyKey }) => idempotencyKey === true)
    t.same(heeding.map(({ id }) => id).sort(), HEEDING)
    for (const { id, method, effect, checks, ...row } of heeding) {
      t.match({ method, effect }, { method: 'POST', effect: 'write' }, id)
      // With one of these fields, the response is not the whole effect of the operation.
      for (const column of ['rows', 'cache', 'evicts', 'invalidates', 'longPoll', 'allowedLinks', 'answer'])
        t.notOk(column in row, `${id} ${column}`)
      t.ok(
        checks.every(({ after }) => after === undefined),
        id,
      )
    }
    t.end()
  },
)

t.test('tasks and the tasks that filters find are also available as HAL', (t) => {
  const ids = where(({ hal }) => hal === true).map(({ id }) => id)
  const filters = ['executeFilterList', 'executeFilterSingleResult', 'postExecuteFilterList']
  t.same(ids.toSorted(), [...filters, 'postExecuteFilterSingleResult', 'getTask', 'getTasks'].toSorted())
  const withVariables = where(({ halVariables }) => halVariables === true).map(({ id }) => id)
  t.same(withVariables.toSorted(), [...filters, 'postExecuteFilterSingleResult'].toSorted())
  t.end()
})

t.test('members of a query that add data of another operation are checked by that operation', (t) => {
  const checks = {
    withTaskVariablesInReturn: 'getTaskVariables',
    withTaskLocalVariablesInReturn: 'getTaskLocalVariables',
  }
  const rows = where(({ itemChecks }) => itemChecks !== undefined)
  t.same(Object.fromEntries(rows.map(({ id, itemChecks }) => [id, itemChecks])), {
    getTasks: checks,
    queryTasks: checks,
  })
  t.end()
})

t.test('every operation that is open to any authenticated caller is known by name', (t) => {
  const open = where(
    ({ method, checks, rows, answer }) =>
      method !== 'OPTIONS' && checks.length === 0 && rows === undefined && answer === undefined,
  )
  t.same(open.map(({ id }) => id).sort(), OPEN)
  t.end()
})

t.test('every operation that may be open without credentials is known by name', (t) => {
  const opened = where(({ open }) => open !== undefined)
  t.same(
    opened.map(({ id, open }) => [open, id]),
    [
      ['engines', 'getProcessEngineNames'],
      ['passwordPolicy', 'getPasswordPolicy'],
      ['verify', 'verifyUser'],
    ],
  )
  // Otherwise the engine would do for any client what requires a permission.
  for (const { id, checks, openAnswer } of opened) t.ok(checks.length === 0 || openAnswer !== undefined, id)
  t.end()
})

t.test('an operation without permissions for its items is a report with checks', (t) => {
  const bare = OPERATIONS.filter(({ rows }) => rows !== undefined && (rows.anyOf ?? rows.allOf) === undefined)
  for (const { id, rows, checks } of bare) {
    t.equal(rows?.form, 'report', id)
    t.ok(checks.length > 0, id)
  }
  t.end()
})

t.test('listed filters are counted by an operation that restricts items', (t) => {
  const counting = where(({ itemCount }) => itemCount !== undefined)
  t.same(
    counting.map(({ id }) => id),
    ['getFilterList', 'getSingleFilter'],
  )
  t.end()
})

t.test('operations with forms or long polls use POST', (t) => {
  for (const { id, method } of where(({ media, longPoll }) => media === 'multipart' || longPoll === true))
    t.equal(method, 'POST', id)
  t.end()
})

t.test('an operation that takes no JSON has no body schema and is not retried', (t) => {
  for (const { id, body, effect } of where(({ media }) => media !== undefined))
    t.match({ body, effect }, { body: undefined, effect: 'write' }, id)
  t.end()
})

t.test('nineteen known operations name the schemas of their bodies and queries', (t) => {
  const named = Object.keys(NINETEEN).map((id) => {
    const row = OPERATIONS.find((one) => one.id === id)
    return [id, [row?.body ?? null, row?.query ?? null]]
  })
  t.same(Object.fromEntries(named), NINETEEN)
  t.end()
})

t.test('every operation that takes a task query refuses expressions in it', (t) => {
  const takesOne = where(
    ({ body, query, template }) =>
      body === 'TaskQueryDto' || query === 'TaskQuery' || template.startsWith('/filter'),
  )
  const open = takesOne.filter(({ method, expressions }) => method !== 'OPTIONS' && expressions !== 'refused')
  t.same(
    open.map(({ method, template }) => `${method} ${template}`).filter((route) => /^(POST|PUT)/.test(route)),
    [],
  )
  t.end()
})

/** A secured engine checks no permission for these operations, and no tenant of a task. */
const OPEN = [
  'checkPassword',
  'configureTelemetry',
  'deleteAttachment',
  'findCleanupJob',
  'findCleanupJobs',
  'getAttachment',
  'getAttachmentData',
  'getComment',
  'getHistoryCleanupConfiguration',
  'getMetrics',
  'getPasswordPolicy',
  'getRestAPIVersion',
  'getTelemetryConfiguration',
  'interval',
]

/** The operations that honor an Idempotency-Key. */
const HEEDING = [
  'deliverMessage',
  'evaluateDecisionById',
  'evaluateDecisionByKey',
  'evaluateDecisionByKeyAndTenant',
  'executeMigrationPlan',
  'executeMigrationPlanAsync',
  'signalExecution',
  'startProcessInstance',
  'startProcessInstanceByKey',
  'startProcessInstanceByKeyAndTenantId',
  'submitForm',
  'submitFormByKey',
  'submitFormByKeyAndTenantId',
  'throwSignal',
]

/** The body and query schemas of nineteen operations. */
const NINETEEN = {
  createAuthorization: ['AuthorizationCreateDto', null],
  getDecisionDefinitionDiagramByKey: [null, null],
  evaluateDecisionById: ['EvaluateDecisionDto', null],
  getEventSubscriptions: [null, 'EventSubscriptionQuery'],
  signalExecution: ['ExecutionTriggerDto', null],
  getTopicNames: [null, 'TopicNamesQuery'],
  getHistoricDecisionInstance: [null, 'HistoricDecisionInstanceOptions'],
  queryHistoricExternalTaskLogs: ['HistoricExternalTaskLogQueryDto', 'Paging'],
  cleanupAsync: [null, 'HistoryCleanupOptions'],
  executeMigrationPlan: ['MigrationExecutionDto', null],
  executeMigrationPlanAsync: ['MigrationExecutionDto', null],
  submitFormByKey: ['StartProcessInstanceFormDto', null],
  getRenderedStartFormByKeyAndTenantId: [null, null],
  getProcessInstanceComments: [null, null],
  setProcessInstanceVariable: ['VariableValueDto', null],
  throwSignal: ['SignalDto', null],
  queryTasks: ['TaskQueryDto', 'Paging'],
  getTaskCountByCandidateGroup: [null, null],
  updateTask: ['TaskDto', null],
}

function where(claim: (operation: Operation) => boolean): readonly Operation[] {
  return PUBLISHED.filter(claim)
}

/** Returns the routes of the operations in each file, in the order of the file. */
async function routesByFile(): Promise<
  readonly { readonly file: string; readonly routes: readonly string[] }[]
> {
  const files = readdirSync(FOLDER)
  return Promise.all(
    files.map(async (file) => {
      const loaded: unknown = await import(new URL(file, FOLDER).href)
      const rows = valuesOf(loaded).flatMap(valuesOf)
      return { file, routes: rows.map((row) => (isRecord(row) ? String(row['route']) : '')) }
    }),
  )
}

function valuesOf(value: unknown): readonly unknown[] {
  return isRecord(value) ? Object.values(value) : []
}

interface Place {
  readonly template: string
  readonly method: number
}

function placeOf(route: string): Place {
  const [method, template = ''] = route.split(' ')
  return { template, method: METHODS.findIndex((one) => one === method) }
}

function byPlace(a: Place, b: Place): number {
  return compare(a.template, b.template) || a.method - b.method
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
