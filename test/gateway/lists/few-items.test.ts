import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const taskOf = (id: string, key: string | null, tenantId: string | null) => ({
  id,
  processDefinitionId: key && `${key}:1`,
  processDefinitionKey: key,
  tenantId,
  processInstanceId: key && `${id}-instance`,
  executionId: key && `${id}-execution`,
})
/** Three tasks without a tenant, one of them without a definition, and many tasks of a tenant. */
const TASKS = [
  taskOf('t1', 'work', null),
  taskOf('t2', 'rest', null),
  taskOf('t3', null, null),
  ...Array.from({ length: 300 }, (_, at) => taskOf(`x${at}`, 'work', 'globex')),
]

/** Enough versions that they are not looked up one after the other. */
const VERSIONS = Array.from({ length: 5 }, (_, at) => ({ id: `work:${at}`, key: 'work', tenantId: null }))

const gateway = await openGateway(t, {
  records: ['grant ben PROCESS_DEFINITION:work READ_HISTORY'],
  settings: { limits: { scannedItems: 100 } },
  engine: ({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://engine')
    const found = TASKS.filter(({ tenantId }) => !searchParams.has('withoutTenantId') || tenantId === null)
    const from = Number(searchParams.get('firstResult') ?? 0)
    const page = found.slice(from, from + Number(searchParams.get('maxResults') ?? 1000))
    const path = pathname.slice(BASE.length)
    const ids = searchParams.get('processDefinitionIdIn')?.split(',')
    const answers: Readonly<Record<string, unknown>> = {
      '/history/task/count': { count: found.length },
      '/history/task': page,
      '/process-definition': VERSIONS.filter(({ id }) => ids === undefined || ids.includes(id)),
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[path] ?? []))
  },
})

t.test(
  'a few items of the caller’s tenants are counted, however many items other tenants have',
  async (t) => {
    const { status, body } = await gateway.ask('ben', 'GET /history/task/count')
    t.same([status, body], [200, { count: 2 }])
  },
)

t.test('for the first page of a caller with many single grants, no instances are read', async (t) => {
  const ids = Array.from({ length: 20 }, (_, at) => `instance-${at}`)
  const incidents = ids.map((id) => ({
    id: `of-${id}`,
    processInstanceId: id,
    processDefinitionId: 'work:1',
  }))
  const sent: string[] = []
  const { ask } = await openGateway(t, {
    records: ids.slice(0, 10).map((id) => `grant ben PROCESS_INSTANCE:${id} READ`),
    engine: ({ method, url }, response) => {
      const { pathname } = new URL(url, 'http://engine')
      const path = pathname.slice(BASE.length)
      sent.push(`${method} ${path}`)
      const definition = VERSIONS.find(({ id }) => path === `/process-definition/${encodeURIComponent(id)}`)
      const found = path === '/incident' ? incidents : (definition ?? [])
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
    },
  })
  const { status, body } = await ask('ben', 'GET /incident?maxResults=50')
  t.same([status, body], [200, incidents.slice(0, 10)])
  t.ok(sent.includes('GET /incident'))
  t.notOk(
    sent.some((one) => one.includes('/process-instance')),
    sent.join(', '),
  )
})

t.test('items that every caller sees are counted while other items are counted', async (t) => {
  const definitions = Array.from({ length: 8 }, (_, at) => ({
    id: `work${at}:1`,
    key: `work${at}`,
    tenantId: null,
  }))
  const alone = Array.from({ length: 105 }, (_, at) => taskOf(`alone${at}`, null, null))
  const others = Array.from({ length: 800 }, (_, at) => taskOf(`task${at}`, `work${at % 8}`, null))
  const sent: string[] = []
  const { ask } = await openGateway(t, {
    records: definitions.slice(0, 6).map(({ key }) => `grant ben PROCESS_DEFINITION:${key} READ_HISTORY`),
    engine: ({ url }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://engine')
      const path = pathname.slice(BASE.length)
      const key =
        searchParams.get('processDefinitionKey') ?? searchParams.get('processDefinitionId')?.split(':')[0]
      const all = searchParams.get('sortOrder') === 'desc' ? [...others, ...alone] : [...alone, ...others]
      const found = key === undefined ? all : others.filter((one) => one.processDefinitionKey === key)
      const from = Number(searchParams.get('firstResult') ?? 0)
      if (path.startsWith('/history/task')) sent.push(`${path} ${key ?? ''}`)
      const answers: Readonly<Record<string, unknown>> = {
        '/history/task/count': { count: found.length },
        '/history/task': found.slice(from, from + Number(searchParams.get('maxResults') ?? 1000)),
        '/process-definition': definitions,
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[path] ?? []))
    },
  })
  for (let round = 0; round < 2; round += 1) {
    sent.length = 0
    const { status, body } = await ask('ben', 'GET /history/task/count')
    t.same([status, body], [200, { count: 105 + 600 }])
    const ofNobody = sent.filter((one) => one === '/history/task ').length
    t.equal(ofNobody, 2 - round, 'one read of the items of nobody is too short, unless their number is known')
    const whole = sent.filter((one) => one === '/history/task/count ').length
    if (round === 1) t.equal(whole, 0, 'the size of the list was counted before')
  }
})
