import t from 'tap'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import { openGateway } from '../../support/open-gateway.ts'
import { watchUpstreams } from '../../support/watch-upstreams.ts'

t.test('the request to an engine names its operation and its user, also if it is restricted', async (t) => {
  const sent: Pick<UpstreamRequest, 'operation' | 'user'>[] = []
  const watch = ({ operation, user }: UpstreamRequest): void => void sent.push({ operation, user })
  const { ask } = await openGateway(t, {
    records: ['grant mary PROCESS_DEFINITION:review READ_TASK,READ'],
    wrap: (dependencies) => watchUpstreams(dependencies, watch),
  })
  const sentFor = async (user: string, route: string) => {
    sent.length = 0
    t.equal((await ask(user, route, route.startsWith('POST') ? { body: {} } : {})).status, 200, route)
    return sent.filter(({ operation }) => operation !== undefined)
  }
  t.same(await sentFor('demo', 'GET /version'), [{ operation: 'getRestAPIVersion', user: 'demo' }])
  const restricted = await sentFor('mary', 'POST /task')
  t.ok(restricted.length > 0)
  for (const one of restricted) t.same(one, { operation: 'queryTasks', user: 'mary' })
})
