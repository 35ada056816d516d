import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const TASKS = [
  { id: 't1', processInstanceId: 'i1', processDefinitionKey: 'work', tenantId: null },
  { id: 't2', processInstanceId: 'i2', processDefinitionKey: 'work', tenantId: null },
  { id: 't3', processInstanceId: 'i3', processDefinitionKey: 'rest', tenantId: null },
  { id: 't4', processInstanceId: 'i4', processDefinitionKey: 'other', tenantId: 'globex' },
]
const LOCK = 'POST /external-task/fetchAndLock'
const body = { workerId: 'w', maxTasks: 9, topics: [{ topicName: 'print', lockDuration: 1000 }] }
const RECORDS = ['grant ben PROCESS_DEFINITION:rest READ_INSTANCE,UPDATE_INSTANCE']

const open = (mode: string) =>
  openGateway(t, {
    records: RECORDS,
    settings: { authorization: { mode, records: { source: 'file', file: 'records.yaml' } } },
    engine: ({ url }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(url.startsWith(`${BASE}/external-task`) ? TASKS : []))
    },
  })

const reporting = await open('report')
const enforcing = await open('enforce')

/** Sends one request and returns its response and its audit line. */
async function lineOf({ ask, log }: typeof reporting, ...asked: Parameters<typeof ask>) {
  const before = log.length
  const { body: answered } = await ask(...asked)
  await new Promise(setImmediate)
  const line = log.slice(before).find(({ stream }) => stream === 'audit')
  return { answered, line }
}

const onWork = (permission: string, need: number) => ({
  permission,
  resource: 'ProcessDefinition',
  resourceId: 'work',
  need,
})

for (const [how, more] of [
  ['at once', {}],
  ['after a while', { asyncResponseTimeout: 5000 }],
] as const)
  t.test(
    `the report of a fetch that responds ${how} names the permissions that its tasks need`,
    async (t) => {
      const { answered, line } = await lineOf(reporting, 'ben', LOCK, { body: { ...body, ...more } })
      t.same(answered, TASKS, 'it changes nothing')
      t.match(line, { decision: 'reported', rule: 'items: some' })
      t.same(
        line?.['missing'],
        [onWork('READ_INSTANCE', 0), onWork('UPDATE_INSTANCE', 1)],
        'no record opens a tenant',
      )
    },
  )

t.test('the report of a list names the permissions that its items need', async (t) => {
  const { answered, line } = await lineOf(reporting, 'ben', 'GET /external-task')
  t.same(answered, TASKS)
  t.same(line?.['missing'], [onWork('READ_INSTANCE', 0)])
})

t.test('an enforced fetch that offers no tasks is audited with its rule', async (t) => {
  const { answered, line } = await lineOf(enforcing, 'nobody', LOCK, { body })
  t.same(answered, [])
  t.match(line, { decision: 'permitted', stage: 'permit', rule: 'items: none', status: 200 })
})

t.test('an enforced fetch that is only narrowed is audited without a rule', async (t) => {
  const { line } = await lineOf(enforcing, 'ben', LOCK, { body })
  t.match(line, { decision: 'permitted', stage: undefined, rule: undefined })
})
