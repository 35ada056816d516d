import { readdirSync } from 'node:fs'
import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Method, Operation } from '../../src/operations/table.ts'
import { operationsOf } from '../../src/operations/compile-table.ts'
import { isRecord } from '../../src/request/value.ts'

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']

/** What Camunda 7.22 has; a few rows are for engines that have more. */
const PUBLISHED = OPERATIONS.filter(
  ({ only, unpublished }) => only === undefined && unpublished === undefined,
)
const FOLDER = new URL('../../src/operations/rows/', import.meta.url)

t.test('it holds the 393 published operations, two unpublished ones and eight of newer engines', (t) => {
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

t.test('no two paths differ by the name of a parameter alone', (t) => {
  const shapes = new Set(OPERATIONS.map(({ template }) => template))
  t.equal(new Set([...shapes].map((template) => template.replace(/:\w+/g, ':'))).size, shapes.size)
  t.end()
})

t.test('parameters are in camelCase and literals are plain', (t) => {
  const other = where(({ template }) => !/^(\/(:[a-z][A-Za-z]*|[a-z][A-Za-z]*(-[a-z]+)*))+$/.test(template))
  t.same(other, [])
  t.end()
})

t.test('a name or a route that is there twice is refused', (t) => {
  const row = { route: 'GET /a', checks: [] } as const
  t.throws(() => operationsOf([{ one: row }, { other: row }]), /twice/)
  t.throws(() => operationsOf([{ one: row }, { one: { ...row, route: 'GET /b' } }]), /twice/)
  t.end()
})

t.test('the rows of a file stand in the order of their paths and methods', async (t) => {
  for (const { file, routes } of await routesByFile()) {
    const places = routes.map(placeOf)
    t.ok(places.length > 0)
    t.same(places, places.toSorted(byPlace), file)
  }
})

t.test('244 operations are pure reads: all by GET and OPTIONS, and 36 queries by POST', (t) => {
  const reads = where(({ retry }) => retry === 'always')
  t.equal(reads.length, 244)
  t.same(
    METHODS.map((method) => reads.filter((row) => row.method === method).length),
    [195, 36, 0, 0, 13],
  )
  t.end()
})

t.test('only reads that nothing restricts by row are cached for others', (t) => {
  for (const { id, method, retry, rows, links } of where(({ cache }) => cache !== undefined)) {
    t.match({ method, retry }, { method: 'GET', retry: 'always' }, id)
    t.equal(links, undefined, `${id}: links show the address that one client used`)
    if (rows !== undefined)
      t.equal(id, 'getTopicNames', 'whoever does not see all of them is answered before')
  }
  t.end()
})

t.test('a count asks for what its list asks for, and a query by POST for what that by GET does', (t) => {
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

/** Who may ask, and what of it they see. */
function restrictionOf({ checks, entity, notFound, rows = {} }: Operation) {
  const { anyOf, allOf, oneRecord, and, where: condition, exempt, tenants } = rows
  return { checks, entity, notFound, anyOf, allOf, oneRecord, and, condition, exempt, tenants }
}

t.test('every write that evicts names tags that something is cached under', (t) => {
  const tags = new Set(OPERATIONS.flatMap(({ cache }) => cache?.tags ?? []))
  const evicting = where(({ evicts }) => evicts !== undefined)
  t.ok(evicting.length > 0)
  for (const { id, retry, evicts = [] } of evicting) {
    t.equal(retry, 'unsent', id)
    for (const tag of evicts) t.ok(tags.has(tag), `${id} ${tag}`)
  }
  t.end()
})

t.test(
  'a key is heeded where a process is started or pushed, and by nothing that is cached or shown by rows',
  (t) => {
    const heeding = where(({ idempotencyKey }) => idempotencyKey === true)
    t.same(heeding.map(({ id }) => id).sort(), HEEDING)
    for (const { id, method, retry, checks, ...row } of heeding) {
      t.match({ method, retry }, { method: 'POST', retry: 'unsent' }, id)
      // Of these, what is answered is not all that is done.
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

t.test('tasks, and what filters find of them, are answered in HAL too', (t) => {
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

t.test('what is open to everybody who is authenticated is known by its name', (t) => {
  const open = where(
    ({ method, checks, rows, answer }) =>
      method !== 'OPTIONS' && checks.length === 0 && rows === undefined && answer === undefined,
  )
  t.same(open.map(({ id }) => id).sort(), OPEN)
  t.end()
})

t.test('what may be opened to everybody without credentials is known by its name', (t) => {
  const opened = where(({ open }) => open !== undefined)
  t.same(
    opened.map(({ id, open }) => [open, id]),
    [
      ['engines', 'getProcessEngineNames'],
      ['passwordPolicy', 'getPasswordPolicy'],
      ['verify', 'verifyUser'],
    ],
  )
  // Else the engine would do for anybody what it asks a permission for.
  for (const { id, checks, openAnswer } of opened) t.ok(checks.length === 0 || openAnswer !== undefined, id)
  t.end()
})

t.test('rows that name no permission are summed up, or seen by nobody', (t) => {
  const bare = OPERATIONS.filter(({ rows }) => rows !== undefined && (rows.anyOf ?? rows.allOf) === undefined)
  for (const { id, rows, checks } of bare) {
    t.equal(rows?.form, 'report', id)
    t.ok(checks.length > 0, id)
  }
  t.end()
})

t.test('filters that are listed are counted by an operation that has rows', (t) => {
  const counting = where(({ itemCount }) => itemCount !== undefined)
  t.same(
    counting.map(({ id }) => id),
    ['getFilterList', 'getSingleFilter'],
  )
  t.end()
})

t.test('forms and long polls are sent by POST', (t) => {
  for (const { id, method } of where(({ media, longPoll }) => media === 'multipart' || longPoll === true))
    t.equal(method, 'POST', id)
  t.end()
})

t.test('what takes no JSON is neither read as JSON nor sent twice', (t) => {
  for (const { id, body, retry } of where(({ media }) => media !== undefined))
    t.match({ body, retry }, { body: undefined, retry: 'unsent' }, id)
  t.end()
})

t.test('the nineteen name the schemas that their bodies and queries are checked by', (t) => {
  const named = Object.keys(NINETEEN).map((id) => {
    const row = OPERATIONS.find((one) => one.id === id)
    return [id, [row?.body ?? null, row?.query ?? null]]
  })
  t.same(Object.fromEntries(named), NINETEEN)
  t.end()
})

t.test('whatever takes a task query refuses expressions in it', (t) => {
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

/** A secured engine asks nobody for a permission here, and neither for the tenant of a task. */
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

/** What heeds an Idempotency-Key. */
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

/** Body and query of the nineteen. */
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

/** The routes of each file's own rows, in its order. */
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
