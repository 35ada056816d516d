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

function fetchOf(topics: string): string {
  return `{"workerId": "w", "maxTasks": 1, "topics": ${topics}}`
}

t.test('a fetch of external tasks is sent without the request for objects', async (t) => {
  for (const [topics, sent] of [
    [
      '[{"topicName": "x", "lockDuration": 1000, "deserializeValues": true}]',
      '[{"topicName": "x", "lockDuration": 1000, "deserializeValues": false}]',
    ],
    [
      '[{"topicName":"x","lockDuration":1}, {"deserializeV\\u0061lues":"True","topicName":"y","lockDuration":1.0}]',
      '[{"topicName":"x","lockDuration":1}, {"deserializeV\\u0061lues":false,"topicName":"y","lockDuration":1.0}]',
    ],
    [
      '[{"topicName": "x", "deserializeValues": 1}, {"deserializeValues": null}]',
      '[{"topicName": "x", "deserializeValues": false}, {"deserializeValues": null}]',
    ],
  ] as const) {
    const { status, forwarded } = await ask('demo', 'POST /external-task/fetchAndLock', {
      body: fetchOf(topics),
      headers: { 'content-type': 'application/json' },
    })
    t.equal(status, 200, topics)
    t.same(
      forwarded.map(({ body }) => String(body)),
      [fetchOf(sent)],
      topics,
    )
  }
})

function fetchWith(deserializeValues: boolean): unknown {
  return { workerId: 'w', maxTasks: 1, topics: [{ topicName: 'x', lockDuration: 1000, deserializeValues }] }
}

t.test('a fetch that requests objects is counted', async (t) => {
  const before = await countOf('fetchAndLock')
  await ask('demo', 'POST /external-task/fetchAndLock', { body: fetchWith(true) })
  await ask('demo', 'POST /external-task/fetchAndLock', { body: fetchWith(false) })
  await new Promise(setImmediate)
  t.equal((await countOf('fetchAndLock')) - before, 1)
})

t.test('a list of tasks with variables is counted, and has an audit line', async (t) => {
  const auditsBefore = changesIn(log).length
  const before = await countOf('getTasks')
  await ask('demo', 'GET /task?withTaskVariablesInReturn=true')
  await ask('demo', 'GET /task?withTaskVariablesInReturn=false')
  await new Promise(setImmediate)
  t.equal((await countOf('getTasks')) - before, 1)
  t.match(changesIn(log).slice(auditsBefore), [
    { user: 'demo', operation: 'getTasks', stage: 'body', rule: 'deserialization' },
  ])
})

t.test('a value that the engine would refuse in a topic is refused, and not sent', async (t) => {
  for (const deserializeValues of ['yes', {}, [], 1.5]) {
    const body = {
      workerId: 'w',
      maxTasks: 1,
      topics: [{ topicName: 'x', lockDuration: 1, deserializeValues }],
    }
    t.match(
      await ask('demo', 'POST /external-task/fetchAndLock', { body }),
      { status: 400, headers: { 'x-gateway-error': 'GW_INVALID_BODY' }, forwarded: [] },
      JSON.stringify(deserializeValues),
    )
  }
})

t.test('an odd value for the variables of tasks is refused, and not sent', async (t) => {
  for (const [route, body] of [
    ['GET /task?withTaskVariablesInReturn=1'],
    ['GET /task/a?withTaskLocalVariablesInReturn=TRUE'],
    ['POST /task', { withTaskVariablesInReturn: 1 }],
    ['POST /task', { withTaskVariablesInReturn: {} }],
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
