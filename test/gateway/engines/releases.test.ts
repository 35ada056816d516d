import t from 'tap'
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

for (const path of ['/authorization/self', '/task/aTask/comment/count', '/task/aTask/attachment/count'])
  t.test(`${path} is not read as the path of an entity: only administrators may use it`, async (t) => {
    t.match(await gateway.ask('mary', `GET ${path}`), { status: 403, forwarded: [] })
  })
