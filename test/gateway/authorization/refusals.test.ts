import t from 'tap'
import { idsOf } from '../../sandbox/asks.ts'
import { type Answer, openGateway } from '../../support/open-gateway.ts'

const gateway = await openGateway(t, { records: ['grant mary TASK:* READ'] })
const { ask, engine } = gateway
const [task = ''] = await idsOf(engine.base, '/task?processDefinitionKey=review')
const [instance = ''] = await idsOf(engine.base, '/process-instance?processDefinitionKey=review')
const [decision = ''] = await idsOf(engine.base, '/decision-definition')
const [definition = ''] = await idsOf(engine.base, '/process-definition?key=review')

/** Returns a missing permission in the form in which a body lists it. */
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

/** Checks that the response is this refusal, and that only lookups reached the engine. */
function isRefused(answer: Answer, status: number, body: unknown): void {
  t.same([answer.status, answer.body], [status, body])
  t.notOk(answer.headers['x-gateway-error'])
  t.same(
    answer.forwarded.filter(({ method }) => method !== 'GET'),
    [],
  )
}

t.test('a missing permission is named with its resource and id', async () => {
  isRefused(
    await ask('nobody', `POST /decision-definition/${decision}/evaluate`, { body: { variables: {} } }),
    403,
    forbidden(
      "The user with id 'nobody' does not have 'CREATE_INSTANCE' permission on resource 'discount' of type 'DecisionDefinition'.",
      missing('CREATE_INSTANCE', 'DecisionDefinition', 'discount'),
    ),
  )
})

t.test('a missing permission without an id is named with its resource only', async () => {
  isRefused(
    await ask('nobody', 'POST /task/create', { body: { name: 'a' } }),
    403,
    forbidden(
      "The user with id 'nobody' does not have 'CREATE' permission on resource 'Task'.",
      missing('CREATE', 'Task', null),
    ),
  )
})

t.test('a missing permission on all of a resource is named with *', async () => {
  isRefused(
    await ask('nobody', 'GET /task/report/candidate-group-count'),
    403,
    forbidden(
      "The user with id 'nobody' does not have 'READ' permission on resource '*' of type 'Task'.",
      missing('READ', 'Task', '*'),
    ),
  )
})

t.test('several alternatives are listed, and none of them is named separately', async () => {
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

t.test('an operation for administrators is refused without the name of a permission', async () => {
  isRefused(await ask('nobody', 'POST /history/cleanup'), 403, {
    ...forbidden('ENGINE-03029 Required admin authenticated group or user.'),
    userId: null,
  })
})

t.test(
  'an operation for administrators and owners of a permission is refused with that permission',
  async () => {
    isRefused(await ask('nobody', 'DELETE /metrics/task-worker'), 403, {
      ...forbidden(
        "ENGINE-03110 Required admin authenticated group or user or any of the following permissions: 'DELETE' permission on resource 'System'.",
      ),
      userId: null,
    })
  },
)

t.test('the refusal of a deployed start form contains only the message', async () => {
  isRefused(await ask('nobody', `GET /process-definition/${definition}/deployed-start-form`), 403, {
    type: 'InvalidRequestException',
    message:
      "The user with id 'nobody' does not have 'READ' permission on resource 'review' of type 'ProcessDefinition'.",
    code: null,
  })
})

t.test('the refusal of a decision definition is a 500, as from the engine', async () => {
  isRefused(await ask('nobody', `GET /decision-definition/${decision}`), 500, {
    type: 'RestException',
    message:
      'org.camunda.bpm.engine.AuthorizationException: ' +
      "The user with id 'nobody' does not have 'READ' permission on resource 'discount' of type 'DecisionDefinition'.",
    code: 0,
  })
})

t.test('the refusal of the schema log is an empty list', async () => {
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
  t.test(`${claim}: a hidden entity gets the same response as a missing one`, async (t) => {
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

t.test('a missing entity gets the same response with and without the permission', async (t) => {
  for (const route of ['GET /task/nosuch', 'GET /process-definition/key/nosuch']) {
    const [seen, unseen] = [await ask('demo', route), await ask('nobody', route)]
    t.same(comparable(unseen), comparable(seen), route)
  }
})

t.test('the refusal of a read has Cache-Control no-cache, and no other refusal has it', async (t) => {
  t.match((await ask('nobody', `GET /task/${task}`)).headers, { 'cache-control': 'no-cache' })
  t.notOk((await ask('nobody', `PUT /task/${task}`, { body: {} })).headers['cache-control'])
  t.notOk((await ask(null, `GET /task/${task}`)).headers['cache-control'])
})

t.test('a refusal has no Cache-Control if the path ends in xml, as from the engine', async (t) => {
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

t.test('the refusal of an unknown engine has no Cache-Control', async (t) => {
  const answer = await ask('demo', 'GET /engine/nosuch/task')
  t.equal(answer.status, 404)
  t.notOk(answer.headers['cache-control'])
})

t.test(
  'the log names the missing permission, and the response does not show that there was a refusal',
  async (t) => {
    const { body } = await ask('nobody', `GET /task/${task}`)
    t.notMatch(JSON.stringify(body), /permission/)
    const line = gateway.log.findLast(({ user, stream }) => user === 'nobody' && stream === undefined)
    t.match(line, {
      operation: 'getTask',
      status: 404,
      error: /^the caller lacks READ on Task or READ_TASK on ProcessDefinition$/,
    })
  },
)

/** Removes the headers that differ between any two responses. */
function comparable({ status, bytes, headers }: Answer, from = '', to = '') {
  const { date: _, 'x-request-id': __, vary: ___, ...others } = headers
  return { status, body: bytes.toString().replace(from, to), headers: others }
}
