import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const OF_GLOBEX = { tenantId: 'globex', processDefinitionId: 'review:1', processInstanceId: 'i' }

/** Returns the response of an engine in which everything belongs to the tenant globex, except entities named `own`. */
function answerTo(path: string, batchId: string | null): unknown {
  const [, kind] = path.split('/')
  if (path === '/history/batch') return [{ id: batchId, tenantId: batchId === 'own' ? 'acme' : 'globex' }]
  if (path === '/history/user-operation')
    return [
      {
        id: 'entry',
        operationId: 'o',
        processDefinitionId: 'review:1',
        processDefinitionKey: 'review',
        category: 'Operator',
      },
    ]
  if (kind === 'process-definition') return { id: 'review:1', key: 'review', tenantId: 'globex' }
  return {
    id: path.split('/').at(-1),
    incidentType: 'own',
    ...OF_GLOBEX,
    tenantId: path.endsWith('/own') ? 'acme' : 'globex',
  }
}

const gateway = await openGateway(t, {
  records: ['BATCH', 'TASK', 'PROCESS_DEFINITION', 'PROCESS_INSTANCE', 'OPERATION_LOG_CATEGORY'].map(
    (resource) => `grant mary ${resource}:* ALL`,
  ),
  settings: { cache: { memory: { maxBytes: '0B' } } },
  engine: ({ method, url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://engine')
    const body = answerTo(decodeURIComponent(pathname.slice(BASE.length)), searchParams.get('batchId'))
    response.writeHead(method === 'GET' ? 200 : 204, { 'content-type': 'application/json' })
    response.end(method === 'GET' ? JSON.stringify(body) : undefined)
  },
})

const foreign = (what: string) => `ENGINE-13034 Cannot ${what} because it belongs to no authenticated tenant.`

/** Responses of a secured engine to a caller with all permissions (Camunda 7.22). */
const HIDDEN: readonly (readonly [route: string, body: unknown, status: number, said: object])[] = [
  ['GET /batch/x', undefined, 404, { message: "Batch with id 'x' does not exist", code: null }],
  [
    'GET /history/batch/x',
    undefined,
    404,
    { message: "Historic batch with id 'x' does not exist", code: null },
  ],
  ['DELETE /batch/x', undefined, 500, { message: foreign("delete batch 'x'"), code: 0 }],
  ['PUT /batch/x/suspended', { suspended: true }, 500, { message: foreign("suspend batch 'x'"), code: 0 }],
  ['PUT /batch/x/suspended', { suspended: false }, 500, { message: foreign("activate batch 'x'"), code: 0 }],
  ['DELETE /history/batch/x', undefined, 500, { message: foreign("delete historic batch 'x'"), code: 0 }],
  ['DELETE /incident/x', undefined, 500, { message: foreign("update the process instance 'i'"), code: 0 }],
  [
    'PUT /incident/x/annotation',
    { annotation: 'a' },
    500,
    { message: foreign("update the process instance 'i'"), code: 0 },
  ],
  [
    'PUT /history/user-operation/o/set-annotation',
    { annotation: 'a' },
    500,
    { message: foreign("update the user operation log entry 'entry'"), code: 0 },
  ],
  [
    'PUT /task/own',
    { name: 'a', tenantId: 'globex' },
    500,
    { message: foreign("assign the task 'own'"), code: 0 },
  ],
  [
    'POST /history/batch/set-removal-time',
    { historicBatchIds: ['x', 'y'], absoluteRemovalTime: null },
    400,
    { type: 'BadUserRequestException', message: 'historicBatches is empty', code: 0 },
  ],
]

for (const [route, body, status, said] of HIDDEN)
  t.test(
    `${route}: an entity of another tenant does not exist for the caller, whatever is granted`,
    async (t) => {
      const ask = body === undefined ? {} : { body }
      const answer = await gateway.ask('mary', route, ask)
      t.match(answer, { status, body: said })
      t.same(
        answer.forwarded.filter(({ method }) => method !== 'GET'),
        [],
      )
      t.equal((await gateway.ask('demo', route, ask)).status, route.startsWith('GET') ? 200 : 204)
    },
  )

t.test('an entity of the caller’s tenant exists for the caller', async (t) => {
  for (const route of ['GET /batch/own', 'GET /history/batch/own', 'DELETE /batch/own']) {
    const { status, forwarded } = await gateway.ask('mary', route)
    t.equal(status, route.startsWith('GET') ? 200 : 204, route)
    t.equal(forwarded.at(-1)?.method, route.split(' ')[0], route)
  }
})

t.test('a caller may leave a task in their own tenant, or remove its tenant', async (t) => {
  for (const tenantId of ['acme', null]) {
    const { status, forwarded } = await gateway.ask('mary', 'PUT /task/own', {
      body: { name: 'a', tenantId },
    })
    t.equal(status, 204)
    t.equal(forwarded.at(-1)?.method, 'PUT')
  }
})

t.test('a list of batches in a body is reduced to those of the caller’s tenant', async (t) => {
  const body = { historicBatchIds: ['x', 'own'], absoluteRemovalTime: null }
  const { status, forwarded } = await gateway.ask('mary', 'POST /history/batch/set-removal-time', { body })
  t.equal(status, 204)
  t.same(JSON.parse(forwarded.at(-1)?.body.toString() ?? ''), { ...body, historicBatchIds: ['own'] })
})

t.test('a caller without tenant restrictions sends the whole list of batches without a lookup', async (t) => {
  const body = { historicBatchIds: ['x', 'own'], absoluteRemovalTime: null }
  const { forwarded } = await gateway.ask('demo', 'POST /history/batch/set-removal-time', { body })
  t.equal(forwarded.length, 1)
  t.same(JSON.parse(forwarded[0]?.body.toString() ?? ''), body)
})

t.test(
  'comments and attachments are requested without a lookup of their task, as in the engine',
  async (t) => {
    for (const route of [
      'GET /task/x/comment/c',
      'GET /task/x/attachment/a',
      'GET /task/x/attachment/a/data',
      'DELETE /task/x/attachment/a',
    ]) {
      const { forwarded } = await gateway.ask('nobody', route)
      t.match(forwarded, [{ url: `${BASE}${route.split(' ')[1]}` }])
      t.equal(forwarded.length, 1)
    }
  },
)
