import t from 'tap'
import { startNode } from '../../support/fake-engine.ts'
import { BASE, openGateway } from '../../support/open-gateway.ts'

// The engines of these tests play a secured engine: they decide themselves, and the gateway only reports.

const RECORDS = { source: 'file', file: 'records.yaml' }
const COMPARED = { credentials: 'forward', authorization: { mode: 'report', records: RECORDS } }

const refusing = await startNode(t, (_request, response) =>
  response
    .writeHead(403, { 'content-type': 'application/json' })
    .end('{"type":"AuthorizationException","message":"no","code":null}'),
)
const gateway = await openGateway(t, {
  engines: {
    permitting: COMPARED,
    refusing: { ...COMPARED, nodes: [refusing.url + BASE] },
    reported: { authorization: { mode: 'report', records: RECORDS } },
  },
})

async function resultsOf(engine: string): Promise<readonly string[]> {
  const text = await gateway.dependencies.metrics.text()
  const series = new RegExp(`^gateway_decisions_compared_total\\{engine="${engine}",(.*)\\} (\\d+)$`, 'gm')
  return [...text.matchAll(series)].map(([, labels = '', count = '']) => `${labels} ${count}`)
}

function comparisonsOf(engine: string) {
  return gateway.log
    .filter((line) => line['stream'] === 'audit' && line['engine'] === engine)
    .map(({ operation, decision, comparison }) => [operation, decision, comparison])
}

t.test(
  'a request that only the gateway would refuse is stricter, and one that both permit is equal',
  async (t) => {
    t.match(await gateway.ask('nobody', 'POST /engine/permitting/history/cleanup'), { status: 200 })
    t.match(await gateway.ask('demo', 'POST /engine/permitting/history/cleanup'), { status: 200 })
    t.same(await resultsOf('permitting'), [
      'operation="cleanupAsync",result="stricter" 1',
      'operation="cleanupAsync",result="equal" 1',
    ])
    t.same(comparisonsOf('permitting'), [
      ['cleanupAsync', 'reported', 'stricter'],
      ['cleanupAsync', 'permitted', 'equal'],
    ])
  },
)

t.test('a list from which the gateway would hide items is stricter, and a count is unknown', async (t) => {
  const before = await resultsOf('permitting')
  await gateway.ask('mary', 'GET /engine/permitting/task')
  await gateway.ask('mary', 'GET /engine/permitting/task/count')
  await gateway.ask('demo', 'GET /engine/permitting/task')
  t.same(
    (await resultsOf('permitting')).filter((one) => !before.includes(one)),
    [
      'operation="getTasks",result="stricter" 1',
      'operation="getTasksCount",result="unknown" 1',
      'operation="getTasks",result="equal" 1',
    ],
  )
})

t.test(
  'a request that only the engine refuses is wider and has an audit line, also if it reads',
  async (t) => {
    t.match(await gateway.ask('demo', 'GET /engine/refusing/task'), { status: 403 })
    t.match(await gateway.ask('nobody', 'POST /engine/refusing/history/cleanup'), { status: 403 })
    t.same(await resultsOf('refusing'), [
      'operation="getTasks",result="wider" 1',
      'operation="cleanupAsync",result="equal" 1',
    ])
    t.same(comparisonsOf('refusing'), [
      ['getTasks', 'permitted', 'wider'],
      ['cleanupAsync', 'reported', 'equal'],
    ])
  },
)

t.test('nothing is compared if the engine does not know the caller, or if the gateway decides', async (t) => {
  await gateway.ask('nobody', 'POST /engine/reported/history/cleanup')
  await gateway.ask('demo', 'POST /history/cleanup')
  t.same([...(await resultsOf('reported')), ...(await resultsOf('default'))], [])
})
