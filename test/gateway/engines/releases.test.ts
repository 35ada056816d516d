import t from 'tap'
import { FORK_ROUTES } from '../../operations/published/fork-routes.ts'
import { openGateway } from '../../support/open-gateway.ts'

const gateway = await openGateway(t, {
  engines: { old: { release: 'Camunda 7.22' }, young: { release: 'Camunda 7.24' } },
})
const COMMENTS = 'DELETE /task/aTask/comment'

t.test('an operation that the configured release lacks is refused, and not forwarded', async (t) => {
  const { status, headers, body, forwarded } = await gateway.ask(
    'demo',
    COMMENTS.replace(' ', ' /engine/old'),
  )
  t.match(
    { status, body },
    {
      status: 404,
      body: {
        message: 'Camunda 7.22 does not have the operation deleteTaskComments (DELETE /task/{id}/comment)',
      },
    },
  )
  t.equal(headers['x-gateway-error'], 'GW_OPERATION_MISSING')
  t.same(forwarded, [])
})

t.test('the same operation passes if the release has it, or if no release is configured', async (t) => {
  for (const route of [COMMENTS, COMMENTS.replace(' ', ' /engine/young')])
    t.notOk((await gateway.ask('demo', route)).headers['x-gateway-error'], route)
})

t.test('errors in the words of an engine name the classes of the configured release', async (t) => {
  const { ask } = await openGateway(t, {
    records: [],
    engines: { operaton: { release: 'Operaton 1.0' }, young: { release: 'Camunda 7.24' } },
    engine: (_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{"type":"InvalidRequestException","message":"not found","code":null}')
    },
  })
  for (const [name, expected] of [
    ['/engine/operaton', 'org.operaton.bpm'],
    ['/engine/young', 'org.camunda.bpm'],
    ['', 'org.camunda.bpm'],
  ] as const)
    t.match(
      (await ask('mary', `GET ${name}/task/absent/deployed-form`)).body,
      { message: new RegExp(`^Cannot invoke "${expected}.engine.impl.persistence.entity.TaskEntity.getId`) },
      name,
    )
})

// Other engines read the last part of these paths as an id: test/gateway/authorization/fork-operations.test.ts.
const READ_AS_IDS: ReadonlySet<string> = new Set([
  'GET /authorization/self',
  'GET /task/{id}/attachment/count',
  'GET /task/{id}/comment/count',
])

// The statistics have the checks of the published GET of the same path.
const ROUTES = Object.values(FORK_ROUTES)
  .flatMap((routes) => Object.values(routes))
  .filter((route) => !route.endsWith('/statistics') && !READ_AS_IDS.has(route))

for (const route of new Set(ROUTES))
  t.test(`only administrators may use ${route} of a fork`, async (t) => {
    const path = route.replace('{id}', 'aTask')
    const body = route.startsWith('GET ') ? {} : { body: {} }
    t.match(await gateway.ask('mary', path, body), { status: 403, forwarded: [] })
    if (!route.includes('{id}') || route.includes('/configurations/'))
      t.equal((await gateway.ask('demo', path, body)).forwarded.length, 1)
  })
