import t from 'tap'
import { readPage } from '../../../src/lists/postfilter/visible-items.ts'
import { OPERATIONS } from '../../../src/operations/all.ts'
import type { Dependencies } from '../../../src/pipeline/dependencies.ts'
import type { BufferedResponse } from '../../../src/request/buffered-response.ts'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const INSTANCES = Array.from({ length: 20 }, (_, at) => ({
  id: `i${at}`,
  definitionId: at % 2 === 0 ? 'review:1' : 'other:1',
  tenantId: null,
}))
const DEFINITIONS = [
  { id: 'review:1', key: 'review', tenantId: null },
  { id: 'other:1', key: 'other', tenantId: null },
]

/** Returns the same parts with engines that record their responses, by path. */
function remembering(dependencies: Dependencies, answers: Map<string, BufferedResponse>): Dependencies {
  const engines = [...dependencies.engines].map(([name, engine]) => {
    const { upstream } = engine
    const fetch: typeof upstream.fetch = async (request, maxBytes) => {
      const answer = await upstream.fetch(request, maxBytes)
      answers.set(request.path.split('?', 1).join(''), answer)
      return answer
    }
    return [name, { ...engine, upstream: { ...upstream, fetch } }] as const
  })
  return { ...dependencies, engines: new Map(engines) }
}

t.test(
  'the memory of items that are only counted is released, and that of returned items is not',
  async (t) => {
    const answers = new Map<string, BufferedResponse>()
    const { ask } = await openGateway(t, {
      records: ['grant mary PROCESS_DEFINITION:review READ_INSTANCE'],
      engine: ({ url }, response) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(url.startsWith(`${BASE}/process-definition`) ? DEFINITIONS : INSTANCES))
      },
      wrap: (dependencies) => remembering(dependencies, answers),
    })
    // A query with or-blocks has no plan.
    const body = { orQueries: [] }
    const kept = () => answers.get('/process-instance')?.body.byteLength
    t.same((await ask('mary', 'POST /process-instance/count', { body })).body, { count: 10 })
    t.equal(kept(), 0)
    t.match((await ask('mary', 'POST /process-instance', { body })).body, { length: 10 })
    t.equal(kept(), JSON.stringify(INSTANCES).length)
  },
)

t.test('other work is done between the batches of a long body', async (t) => {
  const [operation] = OPERATIONS.filter(({ id }) => id === 'getProcessInstances')
  if (operation === undefined) throw new Error('There is no such operation')
  const items = Array.from({ length: 2500 }, (_, at) => ({ id: `i${at}` }))
  const response = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(items)) }
  const listRequest = {
    context: {
      engine: { upstream: { fetch: async () => response } },
      operation,
      accessRequest: {
        principal: { userId: 'mary', groups: [], tenants: [] },
        params: {},
        query: new Map<string, string>(),
        body: null,
      },
    },
    upstreamRequest: {
      method: 'GET',
      path: '/process-instance',
      headers: {},
      body: null,
      retry: 'always' as const,
    },
  }
  const steps: string[] = []
  const page = await readPage(listRequest, {
    form: 'list',
    page: null,
    postfilter: async (_template, batch) => {
      steps.push(`batch of ${batch.length}`)
      setImmediate(() => steps.push('other work'))
      return batch.map(() => true)
    },
  })
  t.equal(page.items.length, 2500)
  t.same(steps, ['batch of 1000', 'other work', 'batch of 1000', 'other work', 'batch of 500'])
})
