import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { CEILINGS, ceilingPermits } from '../../src/operations/ceilings.ts'
import {
  ADDED_VARIABLES,
  type Method,
  type Operation,
  type OperationEntry,
} from '../../src/operations/table.ts'
import { operationsOf } from '../../src/operations/compile-table.ts'
import { listOperations } from '../../src/operations/list-operations.ts'

/** The operations of Camunda 7.22. A few operations of the table exist only in forks and newer engines. */
const PUBLISHED = OPERATIONS.filter(
  ({ only, unpublished }) => only === undefined && unpublished === undefined,
)

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
  getHistoricDecisionInstance: [null, null],
  queryHistoricExternalTaskLogs: ['HistoricExternalTaskLogQueryDto', null],
  cleanupAsync: [null, null],
  executeMigrationPlan: ['MigrationExecutionDto', null],
  executeMigrationPlanAsync: ['MigrationExecutionDto', null],
  submitFormByKey: ['StartProcessInstanceFormDto', null],
  getRenderedStartFormByKeyAndTenantId: [null, null],
  getProcessInstanceComments: [null, null],
  setProcessInstanceVariable: ['VariableValueDto', null],
  throwSignal: ['SignalDto', null],
  queryTasks: ['TaskQueryDto', null],
  getTaskCountByCandidateGroup: [null, null],
  updateTask: ['TaskDto', null],
}

t.test('the table has 393 published operations, two unpublished ones and 32 of newer engines', (t) => {
  t.equal(PUBLISHED.length, 393)
  t.same(
    OPERATIONS.filter(({ unpublished }) => unpublished === true).map(({ id }) => id),
    ['deleteAllProcessDefinitionsByKey', 'deleteAllProcessDefinitionsByKeyAndTenantId'],
  )
  t.equal(OPERATIONS.filter(({ only }) => only !== undefined).length, 32)
  t.equal(new Set(PUBLISHED.map(({ template }) => template)).size, 304)
  t.end()
})

t.test('the ceiling read permits 256 operations, and the ceiling safe 47 more', (t) => {
  const permitted = CEILINGS.map(
    (ceiling) => OPERATIONS.filter((operation) => ceilingPermits(ceiling, operation)).length,
  )
  t.same(permitted, [256, 303, OPERATIONS.length])
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

t.test('an id or a route that is written twice is refused, and the error names the id and the tags', (t) => {
  const row = { route: 'GET /a', checks: [] } as const
  const other = { ...row, route: 'GET /b' } as const
  const list = listOperations({ path: '/c', operations: { GET: 'one' }, checks: [] })
  const refused = [
    [{ first: { one: row }, second: { other: row } }, /GET \/a twice.* first .* other .* second/],
    [{ first: { one: row }, second: { one: other } }, /one twice.* first .* one .* second/],
    [{ first: [list, { one: row }] }, /one twice.* first .* one .* first/],
    [{ first: [{ one: row }, list] }, /one twice.* first .* one .* first/],
    [{ first: [list, list] }, /one twice.* first .* one .* first/],
  ] as const
  for (const [tags, message] of refused) t.throws(() => operationsOf(tags), { message })
  t.doesNotThrow(() => operationsOf({ first: [list, { two: row }], second: { three: other } }))
  t.end()
})

t.test('the operations of a tag are sorted by path, then by method', (t) => {
  const routes = [
    'DELETE /b',
    'OPTIONS /b',
    'GET /b/:id',
    'GET /B',
    'POST /b',
    'PUT /b',
    'GET /b',
    'GET /a',
  ] as const
  const rows = routes.map((route, index): [string, OperationEntry] => [
    `${index}th`,
    { route, checks: [], crossTenant: 'ignored' },
  ])
  t.same(
    operationsOf({ tag: Object.fromEntries(rows) }).map(({ method, template }) => `${method} ${template}`),
    ['GET /B', 'GET /a', 'GET /b', 'POST /b', 'PUT /b', 'DELETE /b', 'OPTIONS /b', 'GET /b/:id'],
  )
  t.end()
})

t.test(
  'every GET and OPTIONS is a pure read, no PUT and DELETE is, and a POST is if it queries or checks',
  (t) => {
    t.same(idsWith(['GET', 'OPTIONS'], false), [])
    t.same(idsWith(['PUT', 'DELETE'], true), [])
    t.same(
      idsWith(['POST'], true).filter((id) => !id.startsWith('query')),
      [
        'postExecuteFilterCount',
        'postExecuteFilterList',
        'postExecuteFilterSingleResult',
        'postQueryGroups',
        'checkPassword',
        'generateMigrationPlan',
        'validateMigrationPlan',
      ],
    )
    t.end()
  },
)

t.test('only reads that do not filter items by caller are cached for others', (t) => {
  for (const { id, method, effect, items, links } of where(({ cache }) => cache !== undefined)) {
    t.match({ method, effect }, { method: 'GET', effect: 'read' }, id)
    t.equal(links, undefined, `${id}: links show the address that one client used`)
    if (items !== undefined)
      t.equal(id, 'getTopicNames', 'whoever does not see all of them is answered before')
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
      for (const column of ['items', 'cache', 'changes', 'handler']) t.notOk(column in row, `${id} ${column}`)
      t.not(typeof row.links, 'object', `${id} links`)
      t.ok(
        checks.every(({ after }) => after === undefined),
        id,
      )
    }
    t.end()
  },
)

t.test('tasks and the tasks that filters find are also available as HAL', (t) => {
  const ids = where(({ accept }) => accept?.startsWith('hal') === true).map(({ id }) => id)
  const filters = ['executeFilterList', 'executeFilterSingleResult', 'postExecuteFilterList']
  t.same(ids.toSorted(), [...filters, 'postExecuteFilterSingleResult', 'getTask', 'getTasks'].toSorted())
  const withVariables = where(({ accept }) => accept === 'hal with variables').map(({ id }) => id)
  t.same(withVariables.toSorted(), [...filters, 'postExecuteFilterSingleResult'].toSorted())
  t.end()
})

t.test('tasks and lists of tasks get the variables that the query adds', (t) => {
  const ids = where(({ handler }) => handler === 'added variables').map(({ id }) => id)
  t.same(ids.toSorted(), ['getTask', 'getTasks', 'queryTasks'])
  t.same(ADDED_VARIABLES, {
    withTaskVariablesInReturn: 'getTaskVariables',
    withTaskLocalVariablesInReturn: 'getTaskLocalVariables',
  })
  t.end()
})

t.test('every operation that is open to any authenticated caller is known by name', (t) => {
  const open = where(
    ({ method, checks, items, handler }) =>
      method !== 'OPTIONS' && checks.length === 0 && items === undefined && handler === undefined,
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
  for (const { id, checks, handler } of opened) t.ok(checks.length === 0 || handler === 'password check', id)
  t.end()
})

t.test('an operation without permissions for its items is a report with checks', (t) => {
  const bare = OPERATIONS.filter(
    ({ items }) => items !== undefined && (items.anyOf ?? items.allOf) === undefined,
  )
  for (const { id, items: restriction, checks } of bare) {
    t.equal(restriction?.form, 'report', id)
    t.ok(checks.length > 0, id)
  }
  t.end()
})

t.test('listed filters are counted by an operation that restricts items', (t) => {
  const counting = where(({ handler }) => handler === 'item counts')
  t.same(
    counting.map(({ id }) => id),
    ['getFilterList', 'getSingleFilter'],
  )
  t.end()
})

t.test('operations with forms or long polls use POST', (t) => {
  for (const { id, method } of where(
    ({ media, handler }) => media === 'multipart' || handler === 'long poll',
  ))
    t.equal(method, 'POST', id)
  t.end()
})

t.test('an operation that takes no JSON has no body schema and is not retried', (t) => {
  for (const { id, body, effect } of where(({ media }) => media !== undefined))
    t.match({ body, effect }, { body: undefined, effect: 'write' }, id)
  t.end()
})

t.test('nineteen known operations name the rules of their bodies and queries', (t) => {
  const named = Object.keys(NINETEEN).map((id) => {
    const row = OPERATIONS.find((one) => one.id === id)
    return [id, [row?.body ?? null, row?.query ?? null]]
  })
  t.same(Object.fromEntries(named), NINETEEN)
  t.end()
})

t.test('every operation that takes a task query checks the expressions in it', (t) => {
  const takesOne = where(
    ({ body, query, template }) =>
      body === 'TaskQueryDto' || query === 'TaskQuery' || template.startsWith('/filter'),
  )
  const open = takesOne.filter(({ method, expressions }) => method !== 'OPTIONS' && expressions === undefined)
  t.same(
    open.map(({ method, template }) => `${method} ${template}`).filter((route) => /^(POST|PUT)/.test(route)),
    [],
  )
  t.end()
})

function where(claim: (operation: Operation) => boolean): readonly Operation[] {
  return PUBLISHED.filter(claim)
}

/** Returns the ids of the operations with these methods that are pure reads, or that are not. */
function idsWith(methods: readonly Method[], isRead: boolean): readonly string[] {
  return where(({ method, effect }) => methods.includes(method) && (effect === 'read') === isRead).map(
    ({ id }) => id,
  )
}
