import t from 'tap'
import type { EngineDependencies } from '../../../src/pipeline/dependencies.ts'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import { openGateway } from '../../support/open-gateway.ts'
import { watchUpstreams } from '../../support/watch-upstreams.ts'

/** Deployments whose nodes the requests prefer, one item for each request. Null if any node suffices. */
const wanted: (string | null)[] = []

function watch({ deployment }: UpstreamRequest): void {
  wanted.push(deployment ?? null)
}

/** The engine knows only the deployment of the definition `review`. */
const deploymentOf: EngineDependencies['deploymentOf'] = async (_definition, { params }) =>
  Object.values(params).includes('review') ? 'd1' : null

const { ask } = await openGateway(t, {
  records: [
    'grant mary PROCESS_INSTANCE:* CREATE,READ',
    'grant mary PROCESS_DEFINITION:* CREATE_INSTANCE,READ',
  ],
  engine: ({ url }, response) => {
    // Responds with a definition whose key and id are equal: the last segment of the path, or the segment before `start` or `submit-form`.
    const [, key] = /\/(\w+)(?:\/(?:start|submit-form))?$/.exec(url.split('?')[0] ?? '') ?? []
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: key, key, tenantId: null, deploymentId: 'd' }))
  },
  wrap: (dependencies) => watchUpstreams(dependencies, watch, { deploymentOf }),
})

async function deploymentsFor(route: string, headers = {}): Promise<readonly (string | null)[]> {
  wanted.length = 0
  const { status } = await ask('mary', route, { ...(route.startsWith('POST') && { body: {} }), headers })
  t.equal(status, 200, route)
  return [...wanted]
}

t.test('a start of a definition is sent to the nodes that have its deployment', async (t) => {
  for (const route of ['/review/start', '/key/review/start', '/key/review/submit-form'])
    t.equal((await deploymentsFor(`POST /process-definition${route}`)).at(-1), 'd1', route)
  t.equal((await deploymentsFor('POST /process-definition/key/other/start')).at(-1), null)
})

t.test('a request that starts nothing may be sent to any node', async (t) => {
  t.same(new Set(await deploymentsFor('GET /process-definition/key/review')), new Set([null]))
})
