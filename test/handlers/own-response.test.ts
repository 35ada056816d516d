import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { isNeverForwarded } from '../../src/handlers/own-response.ts'
import { openGateway } from '../support/open-gateway.ts'

t.test('only the list of engines and the check of a permission are never forwarded', (t) => {
  const ids = OPERATIONS.filter(isNeverForwarded).map(({ id }) => id)
  t.same(ids.toSorted(), ['getProcessEngineNames', 'isUserAuthorized'])
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
