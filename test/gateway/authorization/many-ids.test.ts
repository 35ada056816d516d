import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { bodyTexts } from '../../../src/request/body.ts'
import { authorizationOf, BASE, type GatewayOptions, openGateway } from '../../support/open-gateway.ts'
import { head, openSocket } from '../../support/raw.ts'

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `nosuch-${at}`)
const IDS = many(9900)
const RECORDS = ['grant mary PROCESS_DEFINITION:review READ,UPDATE_INSTANCE,CREATE_INSTANCE,READ_HISTORY']
const REVIEW = { id: 'review:1', key: 'review', tenantId: null }

/** Opens a gateway in front of an engine with one definition and nothing else. The engine responds after `answerMs`. */
function openEmpty(t: Test, { answerMs = 0, ...options }: GatewayOptions & { answerMs?: number } = {}) {
  return openGateway(t, {
    records: RECORDS,
    engine: ({ url, method }, response) => {
      const { pathname } = new URL(url.slice(BASE.length), 'http://engine')
      const answer = pathname === '/process-definition/review%3A1' ? REVIEW : []
      const status = method === 'PUT' || pathname.endsWith('/restart') ? 404 : 200
      setTimeout(() => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      }, answerMs)
    },
    ...options,
  })
}

for (const [route, body, requests] of [
  ['PUT /process-instance/suspended', { processInstanceIds: IDS, suspended: true }, 20],
  ['PUT /external-task/retries', { externalTaskIds: IDS, retries: 1 }, 20],
  [
    'POST /modification/execute',
    { processInstanceIds: IDS, processDefinitionId: 'review:1', instructions: [] },
    2,
  ],
] as const)
  t.test(`${route}: ${IDS.length} unknown ids are looked up in lists`, async (t) => {
    const { ask } = await openEmpty(t)
    const { forwarded, status } = await ask('mary', route, { body })
    t.not(status, 403)
    const path = BASE + route.slice(route.indexOf(' ') + 1)
    t.equal(forwarded.filter(({ url }) => url === path).length, 1, 'the engine says what it is about them')
    const lookUps = forwarded.filter(({ url }) => url !== path)
    t.equal(lookUps.length, requests)
    const asked = lookUps.flatMap(({ body: query }) => {
      const parsed: unknown = JSON.parse(String(query))
      return [...bodyTexts(parsed, 'processInstanceIds'), ...bodyTexts(parsed, 'externalTaskIdIn')]
    })
    t.same(new Set(asked), new Set(IDS.slice(0, requests === 2 ? 500 : IDS.length)))
  })

t.test('definitions in a query string are looked up in lists that fit a request line', async (t) => {
  const { ask } = await openEmpty(t)
  const path = '/history/process-instance/report?reportType=duration&periodUnit=month'
  const ids = many(300).map((id) => `é${id}`)
  const { forwarded } = await ask(
    'mary',
    `GET ${path}&processDefinitionIdIn=${ids.map(encodeURIComponent).join(',')}`,
  )
  const lookUps = forwarded.filter(({ url }) => url.includes('/process-definition?'))
  t.equal(lookUps.length, 3)
  t.ok(lookUps.every(({ url }) => url.length < 8000))
})

const SUSPEND = { processInstanceIds: IDS, suspended: true }

t.test('lookups stop when the client disconnects', async (t) => {
  const { origin, engine, log } = await openEmpty(t, { answerMs: 20, listen: true })
  const body = JSON.stringify(SUSPEND)
  const lines = ['Content-Type: application/json', `Content-Length: ${body.length}`]
  const start = head(`PUT ${BASE}/process-instance/suspended`, ...lines).replace(
    authorizationOf('demo'),
    authorizationOf('mary'),
  )
  const socket = openSocket(origin)
  socket.write(start + body)
  for (let tries = 0; engine.requests < 3 && tries < 200; tries += 1) await delay(5)
  socket.destroy()
  await delay(100)
  const asked = engine.requests
  t.ok(asked < 10, `${asked}`)
  await delay(200)
  t.equal(engine.requests, asked)
  t.match(
    log.filter(({ operation }) => operation === 'updateSuspensionState'),
    [{ status: 499 }],
  )
})

t.test('all lookups together take no longer than the engine may take for its response', async (t) => {
  const timeouts = { headers: '200ms' }
  const { ask } = await openEmpty(t, { answerMs: 30, settings: { timeouts } })
  const { status, headers, forwarded } = await ask('mary', 'PUT /process-instance/suspended', {
    body: SUSPEND,
  })
  t.match({ status, headers }, { status: 504, headers: { 'x-gateway-error': 'GW_UPSTREAM_TIMEOUT' } })
  t.ok(forwarded.length < 15, `${forwarded.length}`)
  t.notOk(forwarded.some(({ method }) => method === 'PUT'))
})

const RETRIES = 'POST /external-task/retries-async'

t.test('a search for any match among ids stops at the first match', async (t) => {
  const { ask } = await openEmpty(t, {
    records: [],
    engine: ({ body }, response) => {
      const ids = bodyTexts(JSON.parse(String(body) || '{}'), 'processInstanceIdIn')
      const rows = ids
        .slice(0, 1)
        .map((processInstanceId) => ({ id: 't', processInstanceId, tenantId: null }))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rows))
    },
  })
  const { status, forwarded } = await ask('mary', RETRIES, { body: { processInstanceIds: IDS, retries: 1 } })
  t.equal(status, 403)
  t.same(
    forwarded.map(({ url }) => url.split('?')[0]),
    [`${BASE}/external-task`],
  )
})

t.test('more ids than the limit of items are refused without a lookup', async (t) => {
  const { ask } = await openEmpty(t, { records: ['grant mary BATCH:* CREATE'] })
  const { status, headers, forwarded } = await ask('mary', RETRIES, {
    body: { processInstanceIds: many(10_001), retries: 1 },
  })
  t.match({ status, headers }, { status: 403, headers: { 'x-gateway-error': 'GW_ITEMS_NOT_EXACT' } })
  t.same(forwarded, [])
})
