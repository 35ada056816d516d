import t from 'tap'
import { startNode } from '../../support/fake-engine.ts'
import { BASE, openGateway } from '../../support/open-gateway.ts'

// The engines of these tests play a secured engine: they decide themselves, and the gateway only reports.

const RECORDS = { source: 'file', file: 'records.yaml' }
const COMPARED = { credentials: 'forward', authorization: { mode: 'report', records: RECORDS } }

/** The status with which the engine `refusing` responds. */
let status = 403
const refusing = await startNode(t, (_request, response) =>
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(status === 200 ? '[]' : '{"type":"RestException","message":"no","code":null}'),
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

t.test('each status of the engine has one result', async (t) => {
  const resultOf = async (user: string, route: string, next: number) => {
    status = next
    const before = new Set(await resultsOf('refusing'))
    t.equal((await gateway.ask(user, route)).status, next)
    const [changed] = (await resultsOf('refusing')).filter((one) => !before.has(one))
    return changed?.replace(/.*result="(\w+)".*/, '$1')
  }
  const results: unknown[] = []
  for (const next of [200, 400, 401, 403, 404, 500])
    results.push([
      next,
      await resultOf('demo', 'GET /engine/refusing/job-definition', next),
      await resultOf('nobody', 'POST /engine/refusing/history/cleanup', next),
    ])
  status = 403
  t.same(results, [
    [200, 'equal', 'stricter'],
    [400, 'unknown', 'unknown'],
    [401, 'wider', 'unknown'],
    [403, 'wider', 'equal'],
    [404, 'unknown', 'unknown'],
    [500, 'unknown', 'unknown'],
  ])
})

t.test('nothing is compared if the engine does not know the caller, or if the gateway decides', async (t) => {
  await gateway.ask('nobody', 'POST /engine/reported/history/cleanup')
  await gateway.ask('demo', 'POST /history/cleanup')
  t.same([...(await resultsOf('reported')), ...(await resultsOf('default'))], [])
})
