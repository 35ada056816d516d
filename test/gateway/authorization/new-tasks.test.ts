import t from 'tap'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import { BASE, openGateway } from '../../support/open-gateway.ts'
import { watchUpstreams } from '../../support/watch-upstreams.ts'

/** Requests that the upstream assumes to create external tasks. */
const creating: string[] = []

function watch({ method, path, retry, newTasks }: UpstreamRequest): void {
  if (retry === 'unsent' && newTasks !== 'none') creating.push(`${method} ${path}`)
}

const { ask } = await openGateway(t, {
  records: [
    'grant mary PROCESS_DEFINITION:* ALL',
    'grant mary PROCESS_INSTANCE:* ALL',
    'grant mary TASK:* ALL',
  ],
  engine: ({ url }, response) => {
    const path = url.slice(BASE.length).split('?')[0] ?? ''
    const isList = /\/(fetchAndLock|process-definition|external-task)$/.test(path)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(isList ? [] : entityOf(path)))
  },
  wrap: (dependencies) => watchUpstreams(dependencies, watch),
})

/** Returns the entity at a path, with the members of every kind of entity. */
function entityOf(path: string) {
  const [, kind = '', id = ''] = path.split('/')
  return {
    id: kind === 'process-definition' ? 'work:1' : id,
    key: 'work',
    processInstanceId: 'i1',
    definitionId: 'work:1',
    processDefinitionId: 'work:1',
    processDefinitionKey: 'work',
    caseExecutionId: null,
    tenantId: null,
    workerId: 'w',
  }
}

async function creatingFor(route: string, body: object): Promise<readonly string[]> {
  creating.length = 0
  const { status } = await ask('mary', route, { body })
  t.ok(status < 300, `${route}: ${status}`)
  return [...creating]
}

t.test('a write is assumed to create external tasks', async (t) => {
  for (const [path, body] of [
    ['/process-definition/key/work/start', {}],
    ['/external-task/e1/complete', { workerId: 'w' }],
    ['/external-task/e1/failure', { workerId: 'w', retries: 1, retryTimeout: 0 }],
    ['/external-task/e1/unlock', {}],
    ['/task/t1/complete', {}],
  ] as const)
    t.same(await creatingFor(`POST ${path}`, body), [`POST ${path}`])
})

t.test('a query, and a request that only locks tasks, are assumed to create no external tasks', async (t) => {
  const topics = [{ topicName: 'print', lockDuration: 1000 }]
  t.same(await creatingFor('POST /external-task/fetchAndLock', { workerId: 'w', maxTasks: 1, topics }), [])
  t.same(await creatingFor('POST /external-task/e1/extendLock', { workerId: 'w', newDuration: 1000 }), [])
  t.same(await creatingFor('POST /external-task/e1/lock', { workerId: 'w', lockDuration: 1000 }), [])
  t.same(await creatingFor('POST /external-task', {}), [])
})
