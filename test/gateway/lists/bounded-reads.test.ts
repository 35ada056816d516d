import t, { type Test } from 'tap'
import { MAX_PARALLEL_READS } from '../../../src/lists/limits.ts'
import { BASE, openGateway } from '../../support/open-gateway.ts'

/** Some restricted responses need one read for each activity, group or task. */
const COUNT = 60
const IDS = Array.from({ length: COUNT }, (_, at) => `a${at}`)
const DEFINITION = { id: 'review:1:1', key: 'review', tenantId: null }
const STATISTICS = 'GET /process-definition/key/review/statistics'
const DURATIONS = 'GET /history/process-instance/report?reportType=duration&periodUnit=month'

/** The bodies that depend on nothing but the path. */
const BODIES: Readonly<Record<string, unknown>> = {
  '/process-definition/key/review': DEFINITION,
  '/process-definition/review%3A1%3A1': DEFINITION,
  '/process-definition/key/review/statistics': IDS.map((id) => ({
    id,
    instances: 1,
    failedJobs: 0,
    incidents: [],
  })),
  '/execution': [{ id: 'e1', processInstanceId: 'i1' }],
  '/identity/groups': {
    groups: ['hidden', ...IDS].map((id) => ({ id, name: id })),
    groupUsers: [{ id: 'ben' }],
  },
  '/user': [{ id: 'ben' }],
  '/tenant': [{ id: 'globex' }],
  '/task/report/candidate-group-count': [{ groupName: null, taskCount: COUNT }],
  '/process-definition': IDS.map((id) => ({ id, key: id, tenantId: null })),
  '/history/process-instance/report': [],
  '/history/process-instance/count': { count: 0 },
}

/** Returns the body of a response of the engine. */
function bodyOf({ pathname, searchParams }: URL): unknown {
  const path = pathname.slice(BASE.length)
  const isOfTenant = (searchParams.get('tenantIdIn') ?? 'globex') === 'globex'
  const tasks = isOfTenant && !searchParams.has('withoutTenantId') ? IDS : []
  if (path === '/task/count') return { count: tasks.length }
  if (path === '/task') return tasks.map((id) => ({ id, tenantId: 'globex' }))
  return path.endsWith('/identity-links') ? [] : BODIES[path]
}

/** Opens a gateway in front of an engine that takes `readMs` for each of the reads that `isCounted` selects, and counts these. */
async function open(
  t: Test,
  {
    isCounted,
    readMs,
    settings = {},
  }: {
    readonly isCounted: RegExp
    readonly readMs: number
    readonly settings?: Readonly<Record<string, unknown>>
  },
) {
  const reads = { running: 0, most: 0, total: 0 }
  const gateway = await openGateway(t, {
    records: [
      'grant mary PROCESS_DEFINITION:review READ',
      'grant mary PROCESS_DEFINITION:* READ_HISTORY',
      'grant mary PROCESS_INSTANCE:i1 READ',
      'grant mary TASK:* READ',
      'grant mary USER:* READ',
      ...IDS.map((id) => `grant mary GROUP:${id} READ`),
    ],
    settings,
    engine: ({ url }, response) => {
      const target = new URL(url, 'http://engine')
      const send = () =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(bodyOf(target)))
      if (isCounted.test(target.pathname)) {
        reads.total += 1
        reads.most = Math.max(reads.most, (reads.running += 1))
        setTimeout(() => {
          reads.running -= 1
          send()
        }, readMs)
      } else send()
    },
  })
  return { ask: (route: string) => gateway.ask('mary', route), reads }
}

for (const [what, route, isCounted, total = COUNT] of [
  ['the instances of activities', STATISTICS, /\/execution$/],
  ['the members of groups', 'GET /identity/groups?userId=mary', /\/user$/],
  ['the groups of tasks of other tenants', 'GET /task/report/candidate-group-count', /\/identity-links$/],
  [
    'the counts of the definitions of a report',
    `${DURATIONS}&processDefinitionIdIn=${IDS.join()}`,
    /\/history\/process-instance\/count$/,
    3 * COUNT,
  ],
] as const) {
  t.test(`${what} are read a few at a time`, async (t) => {
    const { ask, reads } = await open(t, { isCounted, readMs: 5 })
    t.equal((await ask(route)).status, 200)
    t.equal(reads.total, total)
    t.ok(reads.most > 1 && reads.most <= MAX_PARALLEL_READS, `${reads.most}`)
  })

  t.test(`${what} are not read after the time for the lookups of a request`, async (t) => {
    const settings = { timeouts: { headers: '200ms' } }
    const { ask, reads } = await open(t, { isCounted, readMs: 30, settings })
    const { status, headers } = await ask(route)
    t.same([status, headers['x-gateway-error']], [504, 'GW_UPSTREAM_TIMEOUT'])
    t.ok(reads.total < total, `${reads.total}`)
  })
}

t.test('a page behind the items that may be read is refused after one small read', async (t) => {
  let length = 0
  const reads: string[] = []
  const { ask } = await openGateway(t, {
    records: ['grant mary DEPLOYMENT:d1 READ'],
    settings: { limits: { scannedItems: 1000 } },
    engine: ({ url }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://engine')
      if (pathname.endsWith('/deployment')) reads.push(url)
      const from = Number(searchParams.get('firstResult') ?? 0)
      const size = Math.min(Number(searchParams.get('maxResults') ?? length), Math.max(0, length - from))
      const items = Array.from({ length: size }, (_, at) => ({ id: `d${from + at}`, tenantId: null }))
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(pathname.endsWith('/count') ? { count: length } : items))
    },
  })
  for (const [deployments, request, status, count] of [
    [1001, 'GET /deployment?firstResult=1000&maxResults=10', 403, 1],
    [1000, 'GET /deployment?firstResult=1000&maxResults=10', 200, 2],
    [1001, 'GET /deployment?firstResult=991&maxResults=10', 403, 1],
    [1000, 'GET /deployment?firstResult=991&maxResults=10', 200, 1],
    [1000, 'GET /deployment', 200, 1],
    [1001, 'GET /deployment?maxResults=1', 200, 1],
    [1001, 'GET /deployment/count', 403, 1],
  ] as const) {
    length = deployments
    reads.length = 0
    const { status: found } = await ask('mary', request)
    t.equal(found, status, `${request} of ${deployments}`)
    t.equal(reads.length, count, reads.join(', '))
    if (deployments === 1001 && request.includes('firstResult=1000')) t.match(reads[0], 'maxResults=1')
  }
})
