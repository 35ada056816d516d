import t from 'tap'
import type { EngineDependencies } from '../../../src/pipeline/dependencies.ts'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import { openGateway } from '../../support/open-gateway.ts'

t.test('the request to an engine names its operation and its user, also if it is restricted', async (t) => {
  const sent: Pick<UpstreamRequest, 'operation' | 'user'>[] = []
  const watch = ({ operation, user }: UpstreamRequest): void => void sent.push({ operation, user })
  const watching = (upstream: EngineDependencies['upstream']): EngineDependencies['upstream'] => ({
    ...upstream,
    fetch: (upstreamRequest, limitBytes) => {
      watch(upstreamRequest)
      return upstream.fetch(upstreamRequest, limitBytes)
    },
    relay: (upstreamRequest, sink, headers) => {
      watch(upstreamRequest)
      return upstream.relay(upstreamRequest, sink, headers)
    },
  })
  const { ask } = await openGateway(t, {
    records: ['grant mary PROCESS_DEFINITION:review READ_TASK,READ'],
    wrap: (dependencies) => ({
      ...dependencies,
      engines: new Map(
        [...dependencies.engines].map(([name, engine]) => [
          name,
          { ...engine, upstream: watching(engine.upstream) },
        ]),
      ),
    }),
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
