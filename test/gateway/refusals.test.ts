import t from 'tap'
import { idsOf } from '../sandbox/asks.ts'
import { type Answer, openGateway } from '../support/open-gateway.ts'

const gateway = await openGateway(t, { records: ['grant mary TASK:* READ'] })
const { ask, engine } = gateway
const [task = ''] = await idsOf(engine.base, '/task?processDefinitionKey=review')
const [instance = ''] = await idsOf(engine.base, '/process-instance?processDefinitionKey=review')
const [decision = ''] = await idsOf(engine.base, '/decision-definition')
const [definition = ''] = await idsOf(engine.base, '/process-definition?key=review')

/** The names of a missing permission, as a body lists it. */
function missing(permissionName: string, resourceName: string, resourceId: string | null) {
  return { permissionName, resourceName, resourceId }
}

function forbidden(message: string, ...alternatives: readonly ReturnType<typeof missing>[]) {
  const [only] = alternatives.length === 1 ? alternatives : []
  return {
    type: 'AuthorizationException',
    message,
    code: 0,
    userId: 'nobody',
    resourceName: only?.resourceName ?? null,
    resourceId: only?.resourceId ?? null,
    permissionName: only?.permissionName ?? null,
    missingAuthorizations: alternatives,
  }
}

/** The refusal, and that no more than look-ups reached the engine. */
function isRefused(answer: Answer, status: number, body: unknown): void {
  t.same([answer.status, answer.body], [status, body])
  t.notOk(answer.headers['x-gateway-error'])
  t.same(
    answer.forwarded.filter(({ method }) => method !== 'GET'),
    [],
  )
}

t.test('one permission that is missing is named with its resource and id', async () => {
  isRefused(
    await ask('nobody', `POST /decision-definition/${decision}/evaluate`, { body: { variables: {} } }),
    403,
    forbidden(
      "The user with id 'nobody' does not have 'CREATE_INSTANCE' permission on resource 'discount' of type 'DecisionDefinition'.",
      missing('CREATE_INSTANCE', 'DecisionDefinition', 'discount'),
    ),
  )
})

t.test('without an id the resource alone is named', async () => {
  isRefused(
    await ask('nobody', 'POST /task/create', { body: { name: 'a' } }),
    403,
    forbidden(
      "The user with id 'nobody' does not have 'CREATE' permission on resource 'Task'.",
      missing('CREATE', 'Task', null),
    ),
  )
})

t.test('where all of a resource is asked for, it is named *', async () => {
  isRefused(
    await ask('nobody', 'GET /task/report/candidate-group-count'),
    403,
    forbidden(
      "The user with id 'nobody' does not have 'READ' permission on resource '*' of type 'Task'.",
      missing('READ', 'Task', '*'),
    ),
  )
})

t.test('several alternatives are listed, and none is singled out', async () => {
  isRefused(
    await ask('nobody', `PUT /process-instance/${instance}/variables/amount`, { body: { value: 1 } }),
    403,
    forbidden(
      "The user with id 'nobody' does not have one of the following permissions: " +
        `'UPDATE_VARIABLE' permission on resource '${instance}' of type 'ProcessInstance' or ` +
        "'UPDATE_INSTANCE_VARIABLE' permission on resource 'review' of type 'ProcessDefinition' or " +
        `'UPDATE' permission on resource '${instance}' of type 'ProcessInstance' or ` +
        "'UPDATE_INSTANCE' permission on resource 'review' of type 'ProcessDefinition'",
      missing('UPDATE_VARIABLE', 'ProcessInstance', instance),
      missing('UPDATE_INSTANCE_VARIABLE', 'ProcessDefinition', 'review'),
      missing('UPDATE', 'ProcessInstance', instance),
      missing('UPDATE_INSTANCE', 'ProcessDefinition', 'review'),
    ),
  )
})

t.test('what only admins may is refused without a name', async () => {
  isRefused(await ask('nobody', 'POST /history/cleanup'), 403, {
    ...forbidden('ENGINE-03029 Required admin authenticated group or user.'),
    userId: null,
  })
})

t.test('what admins may, or who has a permission, is refused with that permission', async () => {
  isRefused(await ask('nobody', 'DELETE /metrics/task-worker'), 403, {
    ...forbidden(
      "ENGINE-03110 Required admin authenticated group or user or any of the following permissions: 'DELETE' permission on resource 'System'.",
    ),
    userId: null,
  })
})

t.test('some refusals are the message alone', async () => {
  isRefused(await ask('nobody', `GET /process-definition/${definition}/deployed-start-form`), 403, {
    type: 'InvalidRequestException',
    message:
      "The user with id 'nobody' does not have 'READ' permission on resource 'review' of type 'ProcessDefinition'.",
    code: null,
  })
})

t.test('some are an error of the engine', async () => {
  isRefused(await ask('nobody', `GET /decision-definition/${decision}`), 500, {
    type: 'RestException',
    message:
      'org.camunda.bpm.engine.AuthorizationException: ' +
      "The user with id 'nobody' does not have 'READ' permission on resource 'discount' of type 'DecisionDefinition'.",
    code: 0,
  })
})

t.test('some are an answer without rows', async () => {
  isRefused(await ask('nobody', 'GET /schema/log'), 200, [])
})

const HIDDEN: readonly (readonly [claim: string, route: (id: string) => string, existing: string])[] = [
  ['a task', (id) => `GET /task/${id}`, task],
  ['a task to write', (id) => `PUT /task/${id}`, task],
  ['an instance', (id) => `GET /process-instance/${id}`, instance],
  ['its comments', (id) => `GET /process-instance/${id}/comment`, instance],
  ['a definition', (id) => `GET /process-definition/${id}`, definition],
  ['a definition by its key', (key) => `GET /process-definition/key/${key}`, 'review'],
  ['a start by key', (key) => `POST /process-definition/key/${key}/start`, 'review'],
  ['a diagram', (key) => `GET /decision-definition/key/${key}/diagram`, 'discount'],
]

for (const [claim, route, existing] of HIDDEN) {
  t.test(`${claim} that is hidden looks like one that is missing`, async (t) => {
    const body = route('').startsWith('GET') ? {} : { body: {} }
    const absent = 'x'.repeat(existing.length)
    const [hidden, missed] = [
      await ask('nobody', route(existing), body),
      await ask('nobody', route(absent), body),
    ]
    t.ok(hidden.status === 404)
    t.same(comparable(hidden), comparable(missed, absent, existing))
  })
}

t.test('to who may see it, what is missing looks as to everybody else', async (t) => {
  for (const route of ['GET /task/nosuch', 'GET /process-definition/key/nosuch']) {
    const [seen, unseen] = [await ask('demo', route), await ask('nobody', route)]
    t.same(comparable(unseen), comparable(seen), route)
  }
})

t.test('a refusal of a read is no more to be kept than its answer', async (t) => {
  t.match((await ask('nobody', `GET /task/${task}`)).headers, { 'cache-control': 'no-cache' })
  t.notOk((await ask('nobody', `PUT /task/${task}`, { body: {} })).headers['cache-control'])
  t.notOk((await ask(null, `GET /task/${task}`)).headers['cache-control'])
})

t.test('where the path ends in xml the engine marks nothing, and neither does the gateway', async (t) => {
  for (const path of [
    `/process-definition/${definition}/xml`,
    '/decision-definition/nosuch/xml?a=b',
    '/xml',
  ]) {
    const answer = await ask('nobody', `GET ${path}`)
    t.ok(answer.status >= 400, path)
    t.notOk(answer.headers['cache-control'], path)
  }
  const plain = await ask('nobody', `GET /process-definition/${definition}?a=xml`)
  t.match(plain, { status: 404, headers: { 'cache-control': 'no-cache' } })
})

t.test('that there is no such engine is said before anything is marked', async (t) => {
  const answer = await ask('demo', 'GET /engine/nosuch/task')
  t.equal(answer.status, 404)
  t.notOk(answer.headers['cache-control'])
})

t.test('the log says what was missing, the answer does not say that there was a refusal', async (t) => {
  const { body } = await ask('nobody', `GET /task/${task}`)
  t.notMatch(JSON.stringify(body), /permission/)
  const line = gateway.log.findLast(({ user, stream }) => user === 'nobody' && stream === undefined)
  t.match(line, { operation: 'getTask', status: 404, error: /'READ' permission on resource/ })
})

/** Without what differs from answer to answer. */
function comparable({ status, bytes, headers }: Answer, from = '', to = '') {
  const { date: _, 'x-request-id': __, vary: ___, ...others } = headers
  return { status, body: bytes.toString().replace(from, to), headers: others }
}
