import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const HIDDEN = 1200
const ALL = 25_000
const LIMITS = { scannedItems: 100 }
/** Ben and mary see everything except the items of one definition. Mary does not see one task, either. */
const RECORDS = [
  'grant ben PROCESS_DEFINITION:* READ_TASK,READ_INSTANCE',
  'revoke ben PROCESS_DEFINITION:secret READ_TASK,READ_INSTANCE',
  'grant mary PROCESS_DEFINITION:* READ_TASK',
  'revoke mary PROCESS_DEFINITION:secret READ_TASK',
  'revoke mary TASK:t1 READ',
]

const gateway = await openGateway(t, {
  records: RECORDS,
  settings: {
    limits: LIMITS,
    authorization: { tenants: 'ignore', records: { source: 'file', file: 'records.yaml' } },
  },
  engine: ({ url, body }, response) => {
    const path = url.replace(/^\/engine-rest/, '').split('?')[0] ?? ''
    const query = JSON.parse(body.toString() || '{}')
    response.setHeader('content-type', 'application/json')
    if (JSON.stringify(query).includes('refused')) {
      response.writeHead(400).end('{"type":"InvalidRequestException","message":"no"}')
      return
    }
    response.end(JSON.stringify(answerTo(path, query)))
  },
})

function answerTo(path: string, query: Readonly<Record<string, unknown>>): unknown {
  if (path === '/task/count') return { count: countOf(JSON.stringify(query)) }
  if (path === '/variable-instance/count') {
    const ids = query['processInstanceIdIn']
    return { count: Array.isArray(ids) ? 2 * ids.length : ALL }
  }
  if (path === '/process-instance')
    return Array.from({ length: HIDDEN }, (_, at) => ({ id: `i${at}`, startTime: null }))
  if (path === '/process-definition') return [{ id: 'secret:1', key: 'secret', tenantId: null }]
  return path.endsWith('/count') ? { count: 0 } : []
}

/** The task t1 belongs to the hidden definition. */
function countOf(query: string): number {
  const [isOfKey, isOfTask] = [query.includes('"secret"'), query.includes('"t1"')]
  if (isOfTask) return 1
  return isOfKey ? HIDDEN : ALL
}

t.test('tasks of all definitions but one are counted without reading a task', async (t) => {
  for (const [route, body] of [
    ['GET /task/count', undefined],
    ['GET /task/count?assignee=anna', undefined],
    ['POST /task/count', { assignee: 'anna' }],
  ] as const) {
    const answer = await gateway.ask('ben', route, body === undefined ? {} : { body })
    t.same([answer.status, answer.body], [200, { count: ALL - HIDDEN }], route)
    const asked = answer.forwarded.filter(({ url }) => url.includes('/task'))
    t.ok(
      asked.every(({ url }) => /\/(?:history\/task\?|task\/count)/.test(url)),
      asked.map(({ url }) => url).join(' '),
    )
    const counts = asked.filter(({ url }) => url.includes('/task/count'))
    t.equal(counts.length, 2, 'all tasks, and those of the hidden definition')
    if (route.includes('assignee') || body !== undefined)
      t.ok(
        counts.every((count) => count.body.toString().includes('"anna"')),
        'each count has the condition of the caller',
      )
  }
})

t.test('a hidden task of a hidden definition is subtracted once', async (t) => {
  const { status, body } = await gateway.ask('mary', 'GET /task/count')
  t.same([status, body], [200, { count: ALL - HIDDEN }])
})

t.test('the error of the engine is returned for a count that it refuses', async (t) => {
  const { status, body } = await gateway.ask('ben', 'POST /task/count', { body: { assignee: 'refused' } })
  t.match([status, body], [400, { message: 'no' }])
})

t.test('variables of all definitions but one are counted without reading a variable', async (t) => {
  const { status, body, forwarded } = await gateway.ask('ben', 'GET /variable-instance/count')
  t.same([status, body], [200, { count: ALL - 2 * HIDDEN }])
  const asked = forwarded.filter(({ url }) => url.includes('/variable-instance'))
  t.ok(asked.every(({ url }) => url.includes('/count')))
})
