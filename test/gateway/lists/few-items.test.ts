import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const taskOf = (id: string, key: string | null, tenantId: string | null) => ({
  id,
  processDefinitionId: key && `${key}:1`,
  processDefinitionKey: key,
  tenantId,
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
  settings: { limits: { filteredRows: 100 } },
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
