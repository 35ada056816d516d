import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const { ask } = await openGateway(t, {
  engine: ({ url }, response) => {
    const body = url.includes('/history/task?') ? [TASK] : { count: 7 }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  },
})

const TASK = { id: 't1', processDefinitionKey: 'review', processDefinitionId: 'review:1', tenantId: null }

/** The responses of engines that read the last part of these paths as an id. */
const MISSING = {
  '/authorization/self': 'Authorization with id self does not exist.',
  '/task/t1/comment/count': "Task comment with id count does not exist for task id 't1'.",
  '/task/t1/attachment/count': "Task attachment with id count does not exist for task id 't1'.",
}

for (const [path, message] of Object.entries(MISSING))
  t.test(
    `GET ${path} is for administrators, and other callers get the 404 of an engine without it`,
    async (t) => {
      const refused = await ask('mary', `GET ${path}`)
      t.match(refused, { status: 404, body: { type: 'InvalidRequestException', message, code: null } })
      t.same(
        refused.forwarded.filter(({ url }) => url.endsWith(path)),
        [],
        'the engine does not receive the request',
      )
      const { status, body } = await ask('demo', `GET ${path}`)
      t.same([status, body], [200, { count: 7 }])
    },
  )

t.test('an operation of forks with a path of its own is refused with 403', async (t) => {
  t.match(await ask('mary', 'GET /configurations'), { status: 403, forwarded: [] })
})
