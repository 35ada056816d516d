import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { isNeverForwarded } from '../../src/handlers/own-response.ts'
import { openGateway } from '../support/open-gateway.ts'

t.test('only the list of engines is never forwarded', (t) => {
  const ids = OPERATIONS.filter(isNeverForwarded).map(({ id }) => id)
  t.same(ids, ['getProcessEngineNames'])
  t.end()
})

t.test('a check of a permission is answered without a request to the engine', async (t) => {
  const { ask } = await openGateway(t, { engine: (_request, response) => response.end('{"by":"engine"}') })
  const query = 'permissionName=READ&resourceName=TASK&resourceType=7'
  const { status, body, forwarded } = await ask('mary', `GET /authorization/check?${query}`)
  t.equal(status, 200)
  t.match(body, { permissionName: 'READ', resourceName: 'TASK' })
  t.same(forwarded, [])
})

t.test('an engine that decides itself gets the check of a permission', async (t) => {
  for (const mode of ['engine', 'report', 'off']) {
    const { ask } = await openGateway(t, {
      settings: { authorization: { mode, records: { source: 'file', file: 'records.yaml' } } },
      engines: {
        default: { credentials: 'forward' },
        second: { credentials: 'forward', remoteName: 'second' },
      },
      engine: (_request, response) => response.end('{"by":"engine"}'),
    })
    const query = 'permissionName=READ&resourceName=TASK&resourceType=7&userId=anna'
    const { status, body, forwarded } = await ask('mary', `GET /authorization/check?${query}`)
    t.same([status, body, forwarded.length], [200, '{"by":"engine"}', 1], mode)
  }
})
