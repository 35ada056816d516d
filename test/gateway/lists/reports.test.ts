import t from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { openGateway } from '../../support/open-gateway.ts'

interface Ended {
  readonly processDefinitionId: string
  readonly tenantId: string | null
}

const REPORT = [{ period: 11, periodUnit: 'MONTH', minimum: 50, maximum: 351, average: 101 }]
const OURS: readonly Ended[] = [
  { processDefinitionId: 'ours:1', tenantId: 'acme' },
  { processDefinitionId: 'free:1', tenantId: null },
]
const THEIRS: readonly Ended[] = [...OURS, { processDefinitionId: 'theirs:1', tenantId: 'globex' }]
const keyOf = (id: string) => id.replace(/:.*/, '')
const definitionOf = (id: string) => ({ id, key: keyOf(id), tenantId: null })

/** Opens a gateway whose engine has no authorization. These instances and tasks have ended in the engine. */
async function open(ended: readonly Ended[]) {
  return openGateway(t, {
    records: ['mary', 'anna'].map((user) => `grant ${user} PROCESS_DEFINITION:* READ_HISTORY`),
    engine: ({ method, url, body }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://engine')
      const [, name = ''] = /\/process-definition\/(.*)$/.exec(decodeURIComponent(pathname)) ?? []
      const isBad = searchParams.get('reportType') === 'bad'
      const isCount = method === 'POST' && /\/history\/(process-instance|task)\/count$/.test(pathname)
      const count = isCount ? ended.filter((one) => fits(one, JSON.parse(body.toString()))).length : undefined
      const ids = pathname.endsWith('/process-definition') ? searchParams.get('processDefinitionIdIn') : null
      const listed = ids === null ? REPORT : ids.split(',').map(definitionOf)
      const answer = name === '' ? listed : definitionOf(name)
      response.writeHead(isBad ? 400 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(method === 'POST' ? { count } : isBad ? { message: 'bad' } : answer))
    },
  })
}

function fits({ processDefinitionId, tenantId }: Ended, query: unknown): boolean {
  if (!isRecord(query) || query['finished'] !== true) return false
  const { processDefinitionId: id, processDefinitionKeyIn: keys, withoutTenantId, tenantIdIn } = query
  return (
    (id === undefined || id === processDefinitionId) &&
    (!Array.isArray(keys) || keys.includes(keyOf(processDefinitionId))) &&
    (withoutTenantId !== true || tenantId === null) &&
    (!Array.isArray(tenantIdIn) || tenantIdIn.includes(tenantId))
  )
}

const INSTANCES = 'GET /history/process-instance/report?reportType=duration&periodUnit=month'
const TASKS = 'GET /history/task/report?reportType=count'
const REFUSED = { status: 403, headers: { 'x-gateway-error': 'GW_ITEMS_NOT_EXACT' } }

t.test('a report that counts an entity of another tenant is refused', async (t) => {
  const { ask } = await open(THEIRS)
  for (const user of ['mary', 'anna'])
    for (const route of [
      INSTANCES,
      `${INSTANCES}&processDefinitionKeyIn=theirs`,
      `${INSTANCES}&processDefinitionIdIn=theirs:1`,
      `${INSTANCES}&processDefinitionIdIn=free:1,theirs:1`,
      TASKS,
    ]) {
      const answer = await ask(user, route)
      t.match(answer, REFUSED, route)
      t.notMatch(JSON.stringify(answer.body), /average/)
    }
})

t.test('a report is returned unchanged if no entity of another tenant has ended', async (t) => {
  const { ask } = await open(OURS)
  for (const route of [INSTANCES, `${INSTANCES}&processDefinitionKeyIn=ours`, TASKS])
    t.match(await ask('mary', route), { status: 200, body: REPORT }, route)
  t.match(await ask('anna', INSTANCES), REFUSED, 'of no tenant')
})

t.test('only instances of the named definitions are checked for other tenants', async (t) => {
  const { ask } = await open(THEIRS)
  for (const more of ['processDefinitionIdIn=ours:1,free:1', 'processDefinitionKeyIn=ours,free'])
    t.match(await ask('mary', `${INSTANCES}&${more}`), { status: 200, body: REPORT }, more)
})

t.test('all instances are checked if the report covers more than the named definitions', async (t) => {
  const { ask } = await open(THEIRS)
  t.match(await ask('mary', `${INSTANCES}&processDefinitionIdIn=${ours(66)}`), { status: 200 })
  for (const route of [
    `${TASKS}&processDefinitionKeyIn=ours`,
    `${INSTANCES}&processDefinitionKeyIn=,`,
    `${INSTANCES}&processDefinitionKeyIn=,ours`,
    `${INSTANCES}&processDefinitionIdIn=${ours(67)}`,
  ])
    t.match(await ask('mary', route), REFUSED, route)
})

t.test(
  'a caller without tenant restrictions gets the report, and refusals of the engine are passed on',
  async (t) => {
    const { ask } = await open(THEIRS)
    const whole = await ask('demo', TASKS)
    t.match(whole, { status: 200, body: REPORT })
    t.equal(whole.forwarded.length, 1)
    t.match(await ask('mary', TASKS.replace('count', 'bad')), { status: 400, body: { message: 'bad' } })
  },
)

/** Returns a list that names one definition as often as this. */
function ours(length: number): string {
  return Array.from({ length }, () => 'ours:1').join(',')
}
