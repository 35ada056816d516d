import t, { type Test } from 'tap'
import { openGateway, type OpenGateway, type Seen } from '../../support/open-gateway.ts'

const TASKS = Array.from({ length: 5 }, (_, index) => ({
  id: `t${index}`,
  processDefinitionId: 'review:1',
  tenantId: null,
}))

/** An engine with five items in each list. */
function openLimited(
  t: Test,
  maxResults: unknown,
  {
    engines = {},
    records,
    ...settings
  }: Readonly<Record<string, unknown>> & {
    readonly engines?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly records?: readonly string[]
  } = {},
): Promise<OpenGateway> {
  return openGateway(t, {
    settings: { limits: { maxResults }, ...settings },
    engines,
    ...(records === undefined ? {} : { records }),
    engine: ({ url }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://engine')
      const first = Number(searchParams.get('firstResult') ?? 0)
      const max = Number(searchParams.get('maxResults') ?? TASKS.length)
      const isCount = pathname.endsWith('/count')
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(isCount ? { count: 5 } : TASKS.slice(first, first + max)))
    },
  })
}

const UNBOUND = {
  status: 400,
  body: { type: 'BadUserRequestException', message: 'An unbound number of results is forbidden!', code: 0 },
  forwarded: [],
}
const exceeded = (limit: number) => ({
  ...UNBOUND,
  body: { ...UNBOUND.body, message: `Max results limit of ${limit} exceeded!` },
})

function urlsOf(forwarded: readonly Seen[]): readonly string[] {
  return forwarded.map(({ url }) => url.replace('/engine-rest', ''))
}

function countOf(body: unknown): number {
  return Array.isArray(body) ? body.length : Number.NaN
}

t.test('without a limit a list without maxResults is forwarded unchanged', async (t) => {
  const { ask } = await openLimited(t, null)
  const { status, forwarded } = await ask('demo', 'GET /process-instance?active=true')
  t.same([status, urlsOf(forwarded)], [200, ['/process-instance?active=true']])
})

t.test('a list beyond the limit is refused in the words of the engine, and not sent', async (t) => {
  const gateway = await openLimited(t, { items: 3 })
  const { ask, dependencies, log } = gateway
  for (const route of [
    'GET /task',
    'POST /task',
    'GET /history/task',
    'POST /external-task',
    'GET /schema/log',
  ])
    for (const [query, answer] of [
      ['', UNBOUND],
      ['?maxResults=4', exceeded(3)],
    ] as const) {
      const body = route.startsWith('POST') ? {} : undefined
      const refused = await ask('demo', route + query, { body })
      t.match(refused, answer, route + query)
      t.notOk(refused.headers['x-gateway-error'], 'the response is that of an engine')
    }
  t.match(
    await dependencies.metrics.text(),
    /gateway_refusals_total\{[^}]*"getTasks",stage="rules",reason="400"\} 2/,
  )
  t.ok(log.some(({ stream, rule }) => stream === 'audit' && rule === 'limits.maxResults'))
})

t.test('a list within the limit, a count, and a list without pages are not refused', async (t) => {
  const { ask } = await openLimited(t, { items: 3 })
  for (const route of ['GET /task?maxResults=3', 'GET /task/count', 'GET /metrics', 'GET /task/t1/comment'])
    t.equal((await ask('demo', route)).status, 200, route)
})

t.test('the limit precedes the items: a caller who sees no item gets the same refusal', async (t) => {
  const { ask } = await openLimited(t, { items: 3 }, { records: [] })
  t.match(await ask('mary', 'GET /history/task'), UNBOUND)
  for (const route of ['GET /schema/log', 'POST /schema/log']) {
    const body = route.startsWith('POST') ? {} : undefined
    t.match(await ask('mary', route, { body }), UNBOUND, route)
    t.match(await ask('mary', `${route}?maxResults=3`, { body }), { status: 200, body: [] }, route)
  }
  t.match(await ask(null, 'GET /task'), { status: 401 }, 'a client without credentials learns no limit')
})

t.test('invalid queries are refused before the limit is checked, as by an engine', async (t) => {
  const { ask } = await openLimited(t, { items: 3 })
  t.match(await ask('demo', 'POST /task', { body: { sorting: 'unreadable' } }), {
    status: 400,
    body: { type: 'InvalidRequestException' },
  })
})

t.test('users and members of groups have other limits', async (t) => {
  const { ask } = await openLimited(t, { items: 3, users: { demo: 'unlimited' }, groups: { clerks: 4 } })
  t.equal((await ask('demo', 'GET /process-instance')).status, 200)
  t.equal((await ask('mary', 'GET /history/process-instance?maxResults=4')).status, 200)
  t.match(await ask('mary', 'GET /history/process-instance?maxResults=5'), exceeded(4))
})

t.test('an engine may have its own limit, or none', async (t) => {
  const { ask } = await openLimited(
    t,
    { items: 3 },
    { engines: { second: { remoteName: 'second', maxResults: null }, third: { maxResults: { items: 1 } } } },
  )
  t.equal((await ask('demo', 'GET /engine/second/process-instance')).status, 200)
  t.match(await ask('demo', 'GET /engine/third/process-instance?maxResults=2'), exceeded(1))
})

t.test('with `limit` the engine gets the limit, with the other parameters unchanged', async (t) => {
  const { ask } = await openLimited(t, { items: 3, excess: 'limit' })
  for (const [route, sent] of [
    ['GET /process-instance', '/process-instance?maxResults=3'],
    [
      'GET /process-instance?maxResults=9&businessKey=a%2Bb',
      '/process-instance?businessKey=a%2Bb&maxResults=3',
    ],
    ['POST /process-instance?firstResult=1', '/process-instance?firstResult=1&maxResults=3'],
    ['GET /process-instance?maxResults=2', '/process-instance?maxResults=2'],
    ['GET /process-instance/count', '/process-instance/count'],
  ] as const) {
    const { status, body, forwarded } = await ask('demo', route, {
      body: route.startsWith('POST') ? {} : undefined,
    })
    t.same([status, urlsOf(forwarded)], [200, [sent]], route)
    if (!route.endsWith('count')) t.ok(countOf(body) <= 3, route)
  }
})

t.test(
  'with `limit` each changed query is counted, and has an audit line if it named a number',
  async (t) => {
    const { ask, dependencies, log } = await openLimited(t, { items: 3, excess: 'limit' })
    for (const query of ['', '?maxResults=9', '?maxResults=2'])
      await ask('demo', `GET /process-instance${query}`)
    await ask('demo', 'GET /process-instance/count')
    await new Promise(setImmediate)
    t.match(
      await dependencies.metrics.text(),
      /gateway_queries_changed_total\{[^}]*"getProcessInstances",rule="limits.maxResults"\} 2/,
    )
    t.match(
      log.filter(({ stream }) => stream === 'audit'),
      [{ decision: 'changed', stage: 'rules', rule: 'limits.maxResults', operation: 'getProcessInstances' }],
    )
    t.equal(log.filter(({ decision }) => decision === 'changed').length, 1)
  },
)

t.test('with `limit` a restricted caller gets at most as many visible items', async (t) => {
  const { ask } = await openLimited(
    t,
    { items: 3, excess: 'limit' },
    { records: ['grant mary TASK:* READ', 'grant mary PROCESS_DEFINITION:review READ_HISTORY'] },
  )
  for (const route of ['GET /task', 'GET /task?maxResults=4']) {
    const { status, body, forwarded } = await ask('mary', route)
    t.same([status, countOf(body)], [200, 3], route)
    t.match(urlsOf(forwarded).at(-1), /maxResults=3/, route)
  }
})

t.test('with `report` the request continues, and the refusal is counted and logged', async (t) => {
  const { ask, dependencies, log } = await openLimited(t, { items: 3, excess: 'report' })
  const { status, forwarded } = await ask('demo', 'GET /process-instance')
  t.same([status, urlsOf(forwarded)], [200, ['/process-instance']])
  t.match(
    await dependencies.metrics.text(),
    /gateway_refusals_total\{[^}]*stage="rules-report",reason="400"\} 1/,
  )
  t.ok(log.some(({ would }) => would === 'limits.maxResults'))
})

t.test('the limit applies in every mode of authorization and validation', async (t) => {
  for (const mode of ['report', 'off']) {
    const authorization = { mode, records: { source: 'file', file: 'records.yaml' } }
    const { ask, dependencies } = await openLimited(t, { items: 3 }, { authorization, validation: { mode } })
    t.match(dependencies.engines.get('default'), { authorization: mode, validation: mode })
    t.match(await ask('mary', 'GET /process-instance'), UNBOUND, mode)
  }
})
