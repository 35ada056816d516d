import t from 'tap'
import type { EngineDependencies, Dependencies } from '../../../src/pipeline/dependencies.ts'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import { openGateway } from '../../support/open-gateway.ts'

/** Deployments whose nodes the requests prefer, one item for each request. Null if any node suffices. */
const wanted: (string | null)[] = []

function watch({ deployment }: UpstreamRequest): void {
  wanted.push(deployment ?? null)
}

function watching(upstream: EngineDependencies['upstream']): EngineDependencies['upstream'] {
  return {
    ...upstream,
    fetch: (upstreamRequest, limitBytes) => {
      watch(upstreamRequest)
      return upstream.fetch(upstreamRequest, limitBytes)
    },
    relay: (upstreamRequest, sink, headers) => {
      watch(upstreamRequest)
      return upstream.relay(upstreamRequest, sink, headers)
    },
  }
}

/** The engine knows only the deployment of the definition `review`. */
const deploymentOf: EngineDependencies['deploymentOf'] = async (_definition, { params }) =>
  Object.values(params).includes('review') ? 'd1' : null

function aware(dependencies: Dependencies): Dependencies {
  const engines = [...dependencies.engines].map(([name, engine]): [string, EngineDependencies] => [
    name,
    { ...engine, upstream: watching(engine.upstream), deploymentOf },
  ])
  return { ...dependencies, engines: new Map(engines) }
}

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
  wrap: aware,
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
