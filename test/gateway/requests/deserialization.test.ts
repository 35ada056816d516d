import t from 'tap'
import { openGateway, type Seen } from '../../support/open-gateway.ts'

const { ask, dependencies, log } = await openGateway(t, {
  engines: {
    open: { validation: { allow: ['deserialization'] } },
    reporting: { validation: { mode: 'report' } },
  },
  engine: ({ url, method }, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(url.includes('/variables') || method === 'POST' ? '{}' : '[]')
  },
})

function lastUrlOf(forwarded: readonly Seen[]): string | undefined {
  return forwarded.at(-1)?.url.replace('/engine-rest', '')
}

t.test('the engine returns objects of variables as text', async (t) => {
  for (const [route, sent] of [
    ['GET /process-instance/a/variables', '/process-instance/a/variables?deserializeValues=false'],
    [
      'GET /process-instance/a/variables/b?deserializeValue=true',
      '/process-instance/a/variables/b?deserializeValue=false',
    ],
    [
      'GET /history/variable-instance?deserializeValues=true&variableName=x%2By',
      '/history/variable-instance?variableName=x%2By&deserializeValues=false',
    ],
    ['POST /variable-instance?maxResults=2', '/variable-instance?maxResults=2&deserializeValues=false'],
    ['GET /variable-instance/count', '/variable-instance/count'],
  ] as const) {
    const { forwarded } = await ask('demo', route, { body: route.startsWith('POST') ? {} : undefined })
    t.equal(lastUrlOf(forwarded), sent, route)
  }
})

t.test('a changed query is counted, and has an audit line if it requested objects', async (t) => {
  const auditsBefore = changesIn(log).length
  const before = await countOf('getTaskVariables')
  await ask('demo', 'GET /task/a/variables')
  await ask('demo', 'GET /task/a/variables?deserializeValues=true')
  await ask('demo', 'GET /task/a/variables?deserializeValues=false')
  await ask('mary', 'GET /task/a/variables?deserializeValues=true')
  await new Promise(setImmediate)
  t.equal((await countOf('getTaskVariables')) - before, 2, 'not if it stays the same, or is refused')
  t.match(changesIn(log).slice(auditsBefore), [
    { user: 'demo', operation: 'getTaskVariables', stage: 'body', rule: 'deserialization', status: 200 },
  ])
})

async function countOf(operation: string): Promise<number> {
  const text = await dependencies.metrics.text()
  const series = `gateway_queries_changed_total{engine="default",operation="${operation}",rule="deserialization"}`
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.slice(series.length) ?? 0,
  )
}

function changesIn(lines: typeof log): typeof log {
  return lines.filter(({ stream, decision }) => stream === 'audit' && decision === 'changed')
}

t.test('a fetch of external tasks with objects is refused, counted and audited', async (t) => {
  const body = {
    workerId: 'w',
    maxTasks: 1,
    topics: [{ topicName: 'x', lockDuration: 1000, deserializeValues: true }],
  }
  const refused = await ask('demo', 'POST /external-task/fetchAndLock', { body })
  t.match(refused, { status: 400, headers: { 'x-gateway-error': 'GW_HAZARD' }, forwarded: [] })
  t.match(
    await dependencies.metrics.text(),
    /gateway_refusals_total\{[^}]*"fetchAndLock",stage="body",reason="GW_HAZARD"\} 1/,
  )
  await new Promise(setImmediate)
  t.ok(log.some(({ stream, rule }) => stream === 'audit' && rule === 'deserialization'))
})

t.test('tasks with their variables are refused, and not sent', async (t) => {
  for (const [route, body] of [
    ['GET /task?withTaskVariablesInReturn=true'],
    ['GET /task/a?withTaskLocalVariablesInReturn=true'],
    ['POST /task', { withTaskVariablesInReturn: true }],
  ] as const) {
    const refused = await ask('demo', route, { body })
    t.match(refused, { status: 400, headers: { 'x-gateway-error': 'GW_HAZARD' }, forwarded: [] }, route)
    const allowed = await ask('demo', route.replace('/task', '/engine/open/task'), { body })
    t.ok(allowed.forwarded.length > 0, `${route}, allowed`)
  }
})

t.test(
  'requests are not changed if the hazard is allowed, or if the mode of validation refuses nothing',
  async (t) => {
    for (const engine of ['open', 'reporting']) {
      const { forwarded } = await ask(
        'demo',
        `GET /engine/${engine}/process-instance/a/variables?deserializeValues=true`,
      )
      t.match(lastUrlOf(forwarded), /variables\?deserializeValues=true$/, engine)
    }
  },
)
