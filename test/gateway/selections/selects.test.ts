import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const gateway = await openGateway(t, {
  records: [
    'grant mary PROCESS_DEFINITION:external READ_INSTANCE',
    'grant mary BATCH:* CREATE',
    'grant ben PROCESS_DEFINITION:external READ_INSTANCE',
    'grant anna BATCH:* CREATE',
  ],
})
const DELETE = 'POST /process-instance/delete'
const ALL = { body: { processInstanceQuery: {} } }

t.test('a query in a body becomes the ids that the caller sees', async (t) => {
  const { forwarded } = await gateway.ask('mary', DELETE, ALL)
  const sent = forwarded.at(-1)
  t.equal(sent?.url, '/engine-rest/process-instance/delete')
  const { processInstanceIds, ...rest } = JSON.parse(sent?.body.toString() ?? '')
  t.same(rest, {})
  const { body } = await gateway.ask('mary', 'GET /process-instance')
  t.match(
    body,
    processInstanceIds.map((id: string) => ({ id })),
  )
  t.equal(Array.isArray(body) && body.length, processInstanceIds.length)
  t.ok(processInstanceIds.length > 0)
})

t.test('ids in the body are kept in addition to those that a query finds', async (t) => {
  const { forwarded } = await gateway.ask('mary', DELETE, {
    body: { ...ALL.body, processInstanceIds: ['given'] },
  })
  const { processInstanceIds } = JSON.parse(forwarded.at(-1)?.body.toString() ?? '')
  t.equal(processInstanceIds[0], 'given')
  t.ok(processInstanceIds.length > 1)
})

t.test('a query that finds nothing for the caller gets the 400 of the engine', async (t) => {
  for (const user of ['anna', 'nobody']) {
    const { status, body, forwarded } = await gateway.ask(user, DELETE, ALL)
    t.equal(status, 400, user)
    t.same(body, { type: 'InvalidRequestException', message: 'processInstanceIds is empty', code: null })
    t.notOk(forwarded.some(({ url }) => url === '/engine-rest/process-instance/delete'))
  }
})

t.test('a query that finds items is refused if the caller lacks the permission', async (t) => {
  const { status, forwarded } = await gateway.ask('ben', DELETE, ALL)
  t.equal(status, 403)
  t.notOk(forwarded.some(({ url }) => url === '/engine-rest/process-instance/delete'))
})

t.test('without a query the permission is checked first', async (t) => {
  const { status, forwarded } = await gateway.ask('nobody', DELETE, { body: { processInstanceIds: ['a'] } })
  t.same([status, forwarded], [403, []])
})

t.test('items that a query has found are not looked up again', async (t) => {
  const rows = ['a', 'b', 'c'].map((id) => ({
    id,
    processDefinitionId: 'review:1',
    processDefinitionKey: 'review',
    tenantId: null,
  }))
  const { ask } = await openGateway(t, {
    records: ['grant mary PROCESS_DEFINITION:review READ_HISTORY', 'grant mary BATCH:* CREATE'],
    settings: { limits: { scannedItems: 2 } },
    engine: ({ url, body }, response) => {
      const isList = url.startsWith('/engine-rest/history/process-instance?')
      const query = isList ? JSON.parse(String(body) || '{}') : {}
      const isDefinition = url === '/engine-rest/process-definition/review%3A1'
      const found = query.withoutTenantId === true ? rows : []
      const answer = isDefinition ? { id: 'review:1', key: 'review', tenantId: null } : found
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    },
  })
  const { forwarded } = await ask('mary', 'POST /history/process-instance/set-removal-time', {
    body: { historicProcessInstanceQuery: {}, clearedRemovalTime: true },
  })
  t.same(JSON.parse(String(forwarded.at(-1)?.body)), {
    historicProcessInstanceIds: ['a', 'b', 'c'],
    clearedRemovalTime: true,
  })
  t.notOk(forwarded.some(({ body }) => String(body).includes('processInstanceIds')))
})
