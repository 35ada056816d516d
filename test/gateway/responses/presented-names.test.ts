import t from 'tap'
import { startNode } from '../../support/fake-engine.ts'
import { openGateway } from '../../support/open-gateway.ts'
import { startReloadable } from '../../support/reloadable.ts'
import { connectTools } from '../../support/tool-client.ts'
import { problemsIn, settingsWith } from '../../support/config-file.ts'

const TASK = (id: string) => ({
  id,
  name: 'operatonFormRef',
  formKey: null,
  operatonFormRef: { key: 'form', binding: 'latest' },
  processDefinitionId: 'd',
  processInstanceId: 'i',
  tenantId: null,
})
const [A, B] = [TASK('a'), TASK('b')]

/** Responses of the engine by path. */
const RESPONSES: Readonly<Record<string, unknown>> = {
  '/task': [A, B],
  '/process-definition': [{ id: 'd', key: 'k', tenantId: null }],
  '/process-definition/d': { id: 'd', key: 'k', tenantId: null },
  '/task/a': A,
  '/task/a/form': { key: null, operatonFormRef: A.operatonFormRef },
  '/task/a/variables': { operatonFormRef: { type: 'Integer', value: 1 } },
}
const PRESENT = { default: { present: 'camunda' } }

const engine: Parameters<typeof openGateway>[1] = {
  records: ['grant mary TASK:a READ'],
  settings: { mcp: {}, apiDocument: {} },
  listen: true,
  engine: ({ url }, response) => {
    const path = url.replace(/^\/engine-rest/, '').replace(/\?.*$/, '')
    const body = RESPONSES[path] ?? []
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  },
}

t.test('clients see the names of Camunda, and nothing else is changed', async (t) => {
  const { ask } = await openGateway(t, { ...engine, engines: PRESENT })
  for (const [route, path] of [
    ['GET /task', '/task'],
    ['POST /task', '/task'],
    ['GET /task/a', '/task/a'],
    ['GET /task/a/form', '/task/a/form'],
  ] as const) {
    const { bytes } = await ask('demo', route, route.startsWith('POST') ? { body: {} } : {})
    const sent = JSON.stringify(RESPONSES[path])
    t.equal(bytes.toString(), sent.replaceAll('"operatonFormRef":', '"camundaFormRef" :'), route)
  }
})

t.test('a restricted caller sees the names of Camunda in the items of a list', async (t) => {
  const { ask } = await openGateway(t, { ...engine, engines: PRESENT })
  for (const route of ['GET /task', 'POST /task']) {
    const { body } = await ask('mary', route, route.startsWith('POST') ? { body: {} } : {})
    const { operatonFormRef, ...rest } = A
    t.same(body, [{ ...rest, camundaFormRef: operatonFormRef }], route)
  }
})

t.test('a tool has the names of Camunda in its result', async (t) => {
  const { origin } = await openGateway(t, { ...engine, engines: PRESENT })
  const { call } = await connectTools(t, origin, 'demo')
  t.match(await call('getTask', { id: 'a' }), { structured: { camundaFormRef: { key: 'form' } } })
  t.match(await call('getTasks', {}), { structured: { items: [{ camundaFormRef: { key: 'form' } }] } })
})

t.test('the description of the API has the names of Camunda', async (t) => {
  const { ask } = await openGateway(t, { ...engine, engines: PRESENT })
  const { bytes } = await ask('demo', 'GET /openapi.json')
  t.match(bytes.toString(), /"camundaFormRef"/)
  t.notMatch(bytes.toString(), /operatonFormRef/)
})

t.test('a reload that changes the setting applies to the next response', async (t) => {
  const { url } = await startNode(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(A))
  })
  const settingsOf = (present: string | null) => ({
    engines: { default: { nodes: [`${url}/engine-rest`], present } },
  })
  const gateway = await startReloadable(t, settingsOf('camunda'))
  const taskOf = async () => (await gateway.ask('demo', '/task/a')).json()
  t.match(await taskOf(), { camundaFormRef: A.operatonFormRef })
  await gateway.reload(settingsOf(null))
  t.same(await taskOf(), A)
})

t.test('a variable keeps its name', async (t) => {
  const { ask } = await openGateway(t, { ...engine, engines: PRESENT })
  t.same((await ask('demo', 'GET /task/a/variables')).body, RESPONSES['/task/a/variables'])
})

t.test('without the setting clients see the names that the engine sends', async (t) => {
  const { ask } = await openGateway(t, engine)
  const { body, forwarded } = await ask('demo', 'GET /task/a', { headers: { 'accept-encoding': 'gzip' } })
  t.same(body, A)
  t.equal(forwarded.at(-1)?.headers['accept-encoding'], 'gzip')
})

t.test('only the names of Camunda can be presented', async (t) => {
  t.same(problemsIn(t, settingsWith({}, { present: 'camunda' })), [])
  t.match(problemsIn(t, settingsWith({}, { present: 'operaton' })), [
    /engines\.default\.present: must be camunda, because/,
  ])
})
