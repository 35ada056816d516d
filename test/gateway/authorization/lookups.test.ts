import type { ServerResponse } from 'node:http'
import t from 'tap'
import { idsOf } from '../../sandbox/asks.ts'
import { type Answer, openGateway } from '../../support/open-gateway.ts'

const RIGHTS = [
  'grant mary PROCESS_DEFINITION:* READ_TASK,UPDATE_TASK,READ_INSTANCE',
  'grant mary PROCESS_DEFINITION:catching UPDATE_INSTANCE',
  'grant mary PROCESS_DEFINITION:review READ,CREATE_INSTANCE',
]
const gateway = await openGateway(t, { records: RIGHTS })
const { ask, engine } = gateway
const tasks = await idsOf(engine.base, '/task?processDefinitionKey=review')
const [standalone = ''] = await idsOf(engine.base, '/task?name=Call the customer')
const [definition = ''] = await idsOf(engine.base, '/process-definition?key=review')

/** Returns the requests other than reads, because only these could have changed something. */
function writesOf({ forwarded }: Answer) {
  return forwarded.filter(({ method }) => method !== 'GET')
}

const UNKNOWN: readonly (readonly [route: string, status: number, message: string])[] = [
  ['GET /task/nosuch', 404, 'No matching task with id nosuch'],
  ['PUT /task/nosuch', 404, 'No matching task with id nosuch'],
  [
    'POST /task/nosuch/complete',
    500,
    'Cannot complete task nosuch: Cannot find task with id nosuch: task is null',
  ],
  ['GET /process-instance/nosuch', 404, 'Process instance with id nosuch does not exist'],
  [
    'PUT /process-instance/nosuch/variables/amount',
    500,
    "Cannot put process instance variable amount: execution nosuch doesn't exist: execution is null",
  ],
  [
    'POST /execution/nosuch/signal',
    500,
    "Cannot signal execution nosuch: execution nosuch doesn't exist: execution is null",
  ],
  [
    'POST /decision-definition/nosuch/evaluate',
    404,
    "Cannot evaluate decision nosuch: no deployed decision definition found with id 'nosuch': decisionDefinition is null",
  ],
  [
    'GET /history/decision-instance/nosuch',
    404,
    "Historic decision instance with id 'nosuch' does not exist",
  ],
]
for (const [route, status, message] of UNKNOWN) {
  t.test(`${route}: an unknown id gets the message of the engine, and causes only lookups`, async (t) => {
    const body = route.startsWith('GET') ? {} : { body: { variables: {}, value: 1 } }
    const answer = await ask('mary', route, body)
    t.match(answer, { status, body: { message } })
    t.same(Object.keys(Object(answer.body)).sort(), ['code', 'message', 'type'])
    t.same(writesOf(answer), [])
  })
}

t.test('an id is looked up as the client encoded it', async (t) => {
  const { forwarded } = await ask('mary', `GET /task/${encodeURIComponent('a b:ä')}`)
  t.equal(forwarded[0]?.url, '/engine-rest/task/a%20b%3A%C3%A4')
})

t.test('access to a task is decided by its process definition before the task is requested', async (t) => {
  const answer = await ask('mary', `GET /task/${tasks[0]}`)
  t.match(answer, { status: 200, body: { id: tasks[0] } })
  t.match(answer.forwarded.at(-1), { method: 'GET', url: `/engine-rest/task/${tasks[0]}` })
})

t.test('entities that never change are looked up once', async (t) => {
  await ask('mary', `GET /task/${tasks[1]}`)
  const { forwarded } = await ask('mary', `GET /task/${tasks[2]}`)
  t.same(
    forwarded.map(({ url }) => url),
    [`/engine-rest/task/${tasks[2]}`, `/engine-rest/task/${tasks[2]}`],
  )
  await ask('mary', `GET /process-definition/${definition}`)
  t.equal((await ask('mary', `GET /process-definition/${definition}`)).forwarded.length, 1)
})

t.test('a grant on all process definitions does not apply to a task without a process', async (t) => {
  const refused = await ask('mary', `POST /task/${standalone}/complete`, { body: {} })
  t.match(refused, { status: 403, body: { missingAuthorizations: [{ resourceName: 'Task' }, {}] } })
  t.notMatch(JSON.stringify(refused.body), /ProcessDefinition/)
  t.same(writesOf(refused), [])
  t.equal((await ask('demo', `GET /task/${standalone}`)).status, 200)
})

function put(id: string): Promise<Answer> {
  return ask('mary', `PUT /process-instance/${id}/variables/a`, { body: { value: 1 } })
}

t.test(
  'a request with an execution id instead of an instance id is decided by the instance of the execution',
  async (t) => {
    const [instance = ''] = await idsOf(engine.base, '/process-instance?processDefinitionKey=catching')
    const executions = await idsOf(engine.base, `/execution?processInstanceId=${instance}`)
    const child = executions.find((id) => id !== instance) ?? ''
    t.match(writesOf(await put(child)), [
      { method: 'PUT', url: `/engine-rest/process-instance/${child}/variables/a` },
    ])
    const [moving = ''] = await idsOf(engine.base, '/process-instance?processDefinitionKey=moving')
    const [elsewhere = ''] = await idsOf(engine.base, `/execution?processInstanceId=${moving}`)
    const refused = await put(elsewhere)
    t.match(refused, { status: 403, body: { type: 'AuthorizationException' } })
    t.match(refused.body, { missingAuthorizations: [{ resourceId: moving }] })
    t.same(writesOf(refused), [])
  },
)

t.test('a caller with the permission on all entities causes no lookup', async (t) => {
  const { forwarded } = await ask('demo', `GET /task/${tasks[0]}`)
  t.equal(forwarded.length, 1)
})

t.test('lookups for a named engine are sent to that engine', async (t) => {
  const [id = ''] = await idsOf(engine.base, '/engine/second/task')
  const answer = await ask('mary', `GET /engine/second/task/${id}`)
  t.equal(answer.status, 200)
  for (const { url } of answer.forwarded) t.match(url, '/engine-rest/engine/second/')
})

/** Returns an engine whose only entity is a task with these members. */
function withTask(members: object) {
  return (_request: unknown, response: ServerResponse): void => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id: 'x', ...members }))
  }
}

t.test('a task of a case is visible to every caller, as in the engine', async (t) => {
  const other = await openGateway(t, {
    records: [],
    engine: withTask({ caseExecutionId: 'c', processDefinitionId: null, tenantId: null }),
  })
  t.match(await other.ask('nobody', 'GET /task/x'), { status: 200, body: { id: 'x' } })
})

t.test('a write is refused with 502 if its lookup fails', async (t) => {
  const other = await openGateway(t, {
    records: RIGHTS,
    engine: (_request, response) => response.writeHead(500, { 'content-type': 'application/json' }).end('{}'),
  })
  const answer = await other.ask('mary', 'PUT /task/x', { body: {} })
  t.match(answer, { status: 502, headers: { 'x-gateway-error': 'GW_UPSTREAM_INVALID' } })
  t.same(writesOf(answer), [])
})
