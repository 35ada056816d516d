import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { until } from '../../support/cache-harness.ts'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { type Ceiling, ceilingPermits, SAFE_WRITES } from '../../../src/operations/ceilings.ts'
import type { Operation } from '../../../src/operations/table.ts'
import { buildDryRun } from '../../../src/gateway.ts'
import { createExplain, questionOf } from '../../../src/pipeline/explain.ts'
import { textOfExplained } from '../../../src/pipeline/explain-text.ts'
import { startNode } from '../../support/fake-engine.ts'
import { keyed, openKeyed, START } from '../../support/keyed.ts'
import { authorizationOf, BASE, openGateway, type OpenGateway } from '../../support/open-gateway.ts'
import { nextBytes, openSocket } from '../../support/raw.ts'
import { startRedis } from '../../support/redis.ts'
import { setupsOf, startReloadable } from '../../support/reloadable.ts'
import { redisSkip } from '../../support/requirements.ts'
import { AUDIENCE, bearer, type Claims, createKey, startIssuer } from '../../support/token-issuer.ts'
import { handshake, startWebSocketNode } from '../../support/web-socket-node.ts'

const TRIES = 10_000
/** The user demo is an administrator: no authorization record refuses anything. */
const ADMINISTRATOR = 'demo'
const MODES = ['enforce', 'report', 'engine', 'off'] as const
/** Requests that are sent over a connection, besides those that are given to the framework. */
const SENT_SHARE = 0.05

/** Opens a gateway with these rules in front of a stub engine that permits everything. */
function openWith(
  t: Test,
  ceilings: readonly object[],
  settings: Readonly<Record<string, object>> = {},
  engines: Readonly<Record<string, object>> = {},
): Promise<OpenGateway> {
  return openGateway(t, {
    listen: true,
    engines: Object.fromEntries(Object.entries(engines).map(([name, own]) => [name, { ...own }])),
    engine: (_request, response) => response.setHeader('content-type', 'application/json').end('{"id":"x"}'),
    settings: { health: { probe: false }, limits: { ceilings }, ...settings },
  })
}

function modeOf(mode: (typeof MODES)[number]): Readonly<Record<string, object>> {
  const records = { source: 'file', file: 'records.yaml' }
  return { authorization: { mode, records }, validation: { mode: mode === 'enforce' ? 'enforce' : 'off' } }
}

/** An engine that decides itself needs the credentials of the caller. */
function enginesOf(mode: (typeof MODES)[number]): Readonly<Record<string, object>> {
  if (mode !== 'engine') return {}
  return { default: { credentials: 'forward' }, second: { credentials: 'forward', remoteName: 'second' } }
}

/** Numbers that are the same in every run: the bytes of digests. */
function createChoice(seed: string): <T>(values: readonly T[]) => T {
  let count = 0
  return (values) => {
    const number = createHash('sha256').update(`${seed} ${count++}`).digest().readUInt32BE()
    const value = values[number % values.length]
    if (value === undefined) throw new Error('nothing to choose from')
    return value
  }
}

const IDS = ['x', '1', 'review:1:a', 'ä b', 'a%2Db', '8b7e1b32-0000-11f0-9f2e-0242ac110002', 'count', '%']
const BODIES = [
  {},
  { topics: [{ topicName: 'a', lockDuration: 1000 }], workerId: 'w', maxTasks: 1 },
  {
    topics: [{ topicName: 'a', lockDuration: 1000 }],
    workerId: 'w',
    maxTasks: 1,
    asyncResponseTimeout: 60_000,
  },
  { processInstanceIds: ['a'], variables: { x: { value: 1, type: 'Integer' } } },
  { processInstanceQuery: { processDefinitionKey: 'review' }, suspended: true },
  { modifications: { x: { value: 1 } }, deletions: ['y'] },
  { userId: 'mary', password: 'x' },
  { username: 'mary', password: 'mary' },
  { messageName: 'm', all: true },
  { value: 1, type: 'Integer' },
]
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'idempotency-key': 'key-1' },
  { 'x-http-method-override': 'GET', 'x-method-override': 'GET' },
  { accept: 'application/hal+json' },
  { prefer: 'return=minimal', 'cache-control': 'no-cache' },
]
const FORMS = ['', '/engine/default', '/engine/second']
const QUERIES = ['', '?cascade=true', '?_method=GET', '?maxResults=1&firstResult=0']
const BOUNDARY = 'x-boundary-x'
const UPLOAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="content"; filename="a.txt"\r\n\r\n1.0\r\n--${BOUNDARY}--\r\n`

interface Try {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** Returns a request for an operation. */
function tryOf({ method, template, media }: Operation, choose: ReturnType<typeof createChoice>): Try {
  const segments = template.replaceAll(/:\w+/g, () => encodeURIComponent(decoded(choose(IDS))))
  const path = choose(FORMS) + segments + choose(QUERIES)
  const headers = choose(HEADERS)
  if (media === 'none' || method === 'DELETE') return { method, path, headers, body: null }
  const isUpload = media === 'multipart'
  const type = isUpload ? `multipart/form-data; boundary=${BOUNDARY}` : 'application/json'
  return {
    method,
    path,
    headers: { ...headers, 'content-type': type },
    body: isUpload ? UPLOAD : JSON.stringify(choose(BODIES)),
  }
}

function decoded(text: string): string {
  return text === '%' ? text : decodeURIComponent(text)
}

/** Sends a request to the framework, or over a connection. Returns the error code of the gateway, or the status without one. */
async function outcomeOf(gateway: OpenGateway, one: Try, isSent: boolean): Promise<string> {
  const { method, path, body } = one
  const headers = { ...one.headers, authorization: authorizationOf(ADMINISTRATOR) }
  if (isSent) {
    const response = await fetch(gateway.origin + BASE + path, { method, headers, body })
    await response.arrayBuffer()
    return response.headers.get('x-gateway-error') ?? String(response.status)
  }
  const said = await gateway.ask(ADMINISTRATOR, `${method} ${path}`, {
    headers,
    ...(body === null ? {} : { body }),
  })
  return said.headers['x-gateway-error'] ?? String(said.status)
}

interface Tried {
  readonly id: string
  readonly outcome: string
}

/** Tries operations in every mode. */
async function tryAll(
  gateways: readonly OpenGateway[],
  operations: readonly Operation[],
): Promise<readonly Tried[]> {
  const choose = createChoice(String(operations.length))
  const percent = Array.from({ length: 100 }, (_, at) => at)
  const tried: Tried[] = []
  for (let count = 0; count < TRIES; count += 1) {
    const operation = operations[count % operations.length]
    if (operation === undefined) break
    const outcome = await outcomeOf(
      choose(gateways),
      tryOf(operation, choose),
      choose(percent) < SENT_SHARE * 100,
    )
    tried.push({ id: operation.id, outcome })
  }
  return tried
}

for (const ceiling of ['read', 'safe'] as const)
  t.test(`ceiling ${ceiling}: none of 10,000 tries above it reaches the engine, in any mode`, async (t) => {
    const rules = [{ users: [ADMINISTRATOR], ceiling }]
    const gateways = await Promise.all(MODES.map((mode) => openWith(t, rules, modeOf(mode), enginesOf(mode))))
    const above = OPERATIONS.filter((operation) => !ceilingPermits(ceiling, operation))
    const writes = OPERATIONS.filter(({ effect }) => effect !== 'read').map(({ id }) => id)
    t.same(
      above.map(({ id }) => id),
      ceiling === 'read' ? writes : writes.filter((id) => !SAFE_WRITES.has(id)),
      'all writes are above it, except the safe ones',
    )
    const tried = await tryAll(gateways, above)
    t.same(
      gateways.flatMap(({ engine }) => engine.seen.map(({ method, url }) => `${method} ${url}`)),
      [],
    )
    const refused = tried.flatMap(({ id, outcome }) => (outcome === 'GW_CEILING' ? [id] : []))
    t.ok(refused.length > TRIES * 0.8, `${refused.length} of ${TRIES} by the ceiling`)
    const refusedIds = new Set(refused)
    t.same(
      above.map(({ id }) => id).filter((id) => !refusedIds.has(id)),
      [],
      'the ceiling itself refuses each of them',
    )
    t.same(
      tried.filter(({ outcome }) => /^[23]|GW_INTERNAL|GW_UPSTREAM/.test(outcome)),
      [],
      'no success, and no failure besides refusals in the words of the engine',
    )
  })

/** Operations that the gateway answers itself. */
const OWN = new Set<Operation['handler']>(['engine names', 'authorization check'])

/** Returns the number of requests that the engine gets. A filter is read before it is executed, because it may name the caller. */
function forwardedFor({ id, handler }: Operation): number {
  if (OWN.has(handler)) return 0
  return /^(post)?executeFilter/i.test(id) ? 2 : 1
}

for (const ceiling of ['read', 'safe'] as const)
  t.test(`ceiling ${ceiling}: every operation below it passes`, async (t) => {
    const gateway = await openWith(t, [{ users: [ADMINISTRATOR], ceiling }], modeOf('off'))
    for (const operation of OPERATIONS.filter((one) => ceilingPermits(ceiling, one))) {
      const { id, method, template, handler, media } = operation
      const path = template.replaceAll(/:\w+/g, 'x')
      const body = media === 'multipart' ? UPLOAD : '{}'
      const type = media === 'multipart' ? `multipart/form-data; boundary=${BOUNDARY}` : 'application/json'
      const hasBody = (method === 'POST' || method === 'PUT') && media !== 'none'
      const said = await gateway.ask(
        ADMINISTRATOR,
        `${method} ${path}`,
        hasBody ? { body, headers: { 'content-type': type } } : {},
      )
      t.equal(said.status, handler === 'authorization check' ? 400 : 200, id)
      t.equal(said.forwarded.length, forwardedFor(operation), id)
    }
  })

t.test('the refusal has the shape of the own errors, a metric and an audit line', async (t) => {
  const gateway = await openWith(t, [{ groups: ['clerks'], ceiling: 'read' }])
  const { status, headers, body, forwarded } = await gateway.ask('mary', 'POST /task/x/claim', {
    body: { userId: 'mary' },
  })
  t.match(
    { status, headers, body },
    {
      status: 403,
      headers: { 'x-gateway-error': 'GW_CEILING', 'content-type': 'application/json' },
      body: {
        type: 'AuthorizationException',
        message: "The ceiling 'read' of the caller permits only operations that read",
        code: null,
      },
    },
  )
  t.same(forwarded, [])
  await new Promise(setImmediate)
  t.match(
    gateway.log.findLast(({ stream }) => stream === 'audit'),
    {
      user: 'mary',
      operation: 'claim',
      decision: 'refused',
      stage: 'admit',
      rule: 'GW_CEILING',
      ceiling: 'read',
    },
  )
  const metrics = await gateway.dependencies.metrics.text()
  t.match(metrics, 'gateway_ceiling_requests_total{engine="default",ceiling="read",result="refused"} 1')
  t.match(
    metrics,
    /gateway_refusals_total\{engine="default",operation="claim",stage="admit",reason="GW_CEILING"\} 1/,
  )
})

t.test(
  'the audit line of a permitted write names the ceiling, and callers without one are not counted',
  async (t) => {
    const gateway = await openWith(t, [{ users: ['mary'], ceiling: 'safe' }], modeOf('off'))
    for (const user of ['mary', 'demo'])
      t.equal((await gateway.ask(user, 'POST /task/x/claim', { body: {} })).status, 200)
    await new Promise(setImmediate)
    const lines = gateway.log.filter(({ stream, operation }) => stream === 'audit' && operation === 'claim')
    t.same(
      lines.map(({ user, ceiling, decision }) => [user, ceiling, decision]),
      [
        ['mary', 'safe', 'permitted'],
        ['demo', undefined, 'permitted'],
      ],
    )
    const metrics = await gateway.dependencies.metrics.text()
    t.same(metrics.match(/^gateway_ceiling_requests_total\{.*$/gm), [
      'gateway_ceiling_requests_total{engine="default",ceiling="safe",result="permitted"} 1',
    ])
  },
)

t.test(
  'an expression in a query is refused to a caller with a ceiling, even if the configuration allows it',
  async (t) => {
    const gateway = await openWith(t, [{ users: ['demo'], ceiling: 'read' }], {
      ...modeOf('off'),
      validation: { mode: 'off', allow: ['expressions'] },
    })
    const query = { body: { assigneeExpression: '${bean.remove()}' } }
    t.match(await gateway.ask('demo', 'POST /task', query), {
      headers: { 'x-gateway-error': 'GW_HAZARD' },
      forwarded: [],
    })
    t.match(await gateway.ask('demo', 'GET /task?ownerExpression=a'), { status: 400, forwarded: [] })
    t.equal((await gateway.ask('mary', 'POST /task', query)).status, 200)
  },
)

t.test('a cached response is served to a caller with the ceiling read, before the framework', async (t) => {
  const gateway = await openWith(t, [{ ceiling: 'read' }])
  const read = () =>
    fetch(`${gateway.origin}${BASE}/process-definition/x/xml`, {
      headers: { authorization: authorizationOf('demo') },
    })
  for (let count = 0; count < 3; count += 1) t.equal((await read()).status, 200)
  await until(async () =>
    (await gateway.dependencies.metrics.text()).includes(
      'gateway_ceiling_requests_total{engine="default",ceiling="read",result="permitted"} 3',
    ),
  )
})

t.test('under the ceiling safe, an instance is started without start instructions', async (t) => {
  const gateway = await openWith(t, [{ users: ['demo'], ceiling: 'safe' }], modeOf('off'))
  const instructions = [{ type: 'startBeforeActivity', activityId: 'approved' }]
  const starts = [
    'POST /process-definition/x/start',
    'POST /process-definition/key/x/start',
    'POST /process-definition/key/x/tenant-id/y/start',
  ]
  for (const start of starts) {
    for (const startInstructions of [instructions, 'x', {}])
      t.match(await gateway.ask('demo', start, { body: { startInstructions } }), {
        headers: { 'x-gateway-error': 'GW_CEILING' },
        forwarded: [],
      })
    for (const body of [{}, { startInstructions: [] }, { startInstructions: null }])
      t.equal((await gateway.ask('demo', start, { body })).status, 200)
    const free = await gateway.ask('mary', start, { body: { startInstructions: instructions } })
    t.equal(free.status, 200)
  }
})

t.test('a request without credentials has no ceiling, and one with credentials has', async (t) => {
  const gateway = await openWith(t, [{ ceiling: 'read' }], {
    identity: { source: 'file', file: 'users.yaml', open: ['verify'] },
  })
  const body = { username: 'mary', password: 'mary' }
  t.match(await gateway.ask(null, 'POST /identity/verify', { body }), {
    status: 200,
    body: { authenticated: true },
  })
  t.equal((await gateway.ask('demo', 'POST /identity/verify', { body })).status, 403)
})

t.test('the ceiling of a token follows from its client, its claims and its user', async (t) => {
  const key = await createKey('one')
  const issuer = await startIssuer(t, key)
  const tokens = { issuers: [{ name: 'company', issuer: issuer.url, audience: [AUDIENCE] }] }
  const rules = [
    { clients: ['agent'], ceiling: 'read' },
    { claim: { path: 'scope', values: ['engine:safe'] }, ceiling: 'safe' },
    { claim: { path: 'realm_access.roles', values: ['reader'] }, ceiling: 'read' },
  ]
  const gateway = await openWith(t, rules, {
    ...modeOf('off'),
    identity: { source: 'file', file: 'users.yaml', tokens },
  })
  const cases: readonly (readonly [string, Claims, Ceiling])[] = [
    ['another client', { azp: 'web', scope: 'openid' }, 'all'],
    ['azp', { azp: 'agent' }, 'read'],
    ['client_id', { client_id: 'agent', azp: 'web' }, 'read'],
    ['a word of a scope', { scope: 'openid engine:safe' }, 'safe'],
    ['a list', { scope: ['openid', 'engine:safe'] }, 'safe'],
    ['the lowest of two', { scope: 'engine:safe', azp: 'agent' }, 'read'],
    ['a nested claim', { realm_access: { roles: ['reader'] } }, 'read'],
    ['an unreadable claim', { realm_access: { roles: [{}] } }, 'read'],
    ['a claim in another place', { _claim_names: { scope: 'other' } }, 'safe'],
  ]
  for (const [name, claims, ceiling] of cases) {
    const headers = bearer(await issuer.sign(key, claims))
    for (let count = 0; count < 2; count += 1) {
      const write = await gateway.ask(null, 'POST /task/x/claim', { body: {}, headers })
      const removal = await gateway.ask(null, 'DELETE /task/x', { headers })
      t.equal(write.status, ceiling === 'read' ? 403 : 200, name)
      t.equal(removal.status, ceiling === 'all' ? 200 : 403, name)
    }
  }
})

t.test('the claims of a token also count if its groups come from the source of users', async (t) => {
  const key = await createKey('one')
  const issuer = await startIssuer(t, key)
  const own = { name: 'company', issuer: issuer.url, audience: [AUDIENCE], groups: 'both' }
  const gateway = await openWith(t, [{ clients: ['agent'], ceiling: 'read' }], {
    ...modeOf('off'),
    identity: { source: 'file', file: 'users.yaml', tokens: { issuers: [own] } },
  })
  const ask = async (azp: string) => {
    const headers = bearer(await issuer.sign(key, { azp }))
    return (await gateway.ask(null, 'POST /task/x/claim', { body: {}, headers })).status
  }
  t.same([await ask('agent'), await ask('web')], [403, 200])
})

t.test(
  'a changed ceiling applies at once after a reload, also for remembered credentials and tokens',
  async (t) => {
    const key = await createKey('one')
    const issuer = await startIssuer(t, key)
    const node = await startNode(t, (_request, response) => response.end('{}'))
    const tokens = { issuers: [{ name: 'company', issuer: issuer.url, audience: [AUDIENCE] }] }
    const { ONE } = setupsOf(node.url + BASE)
    const settings = {
      ...ONE,
      ...modeOf('off'),
      health: { probe: false },
      identity: { source: 'file', file: 'users.yaml', remember: '1h', tokens },
    }
    const gateway = await startReloadable(t, settings)
    const authorizations = [
      authorizationOf('demo'),
      bearer(await issuer.sign(key, { azp: 'agent', sub: 'demo' })).authorization,
    ]
    const statuses = () =>
      Promise.all(
        authorizations.map(async (authorization) => {
          const { status } = await fetch(`${gateway.running.address}${BASE}/task/x`, {
            method: 'DELETE',
            headers: { authorization },
          })
          return status
        }),
      )
    t.same(await statuses(), [200, 200])
    const steps: readonly (readonly [readonly object[], readonly number[]])[] = [
      [[{ clients: ['agent'], ceiling: 'read' }], [200, 403]],
      [[{ users: ['demo'], ceiling: 'safe' }], [403, 403]],
      [[{ claim: { path: 'azp', values: ['agent'] }, ceiling: 'safe' }], [200, 403]],
      [[], [200, 200]],
    ]
    for (const [ceilings, expected] of steps) {
      await gateway.reload({ ...settings, limits: { ceilings } })
      t.same(await statuses(), expected, JSON.stringify(ceilings))
    }
  },
)

t.test('under a ceiling, an application gets only GET, HEAD and OPTIONS', async (t) => {
  const web = await startNode(t, (_request, response) => response.end('web'))
  const gateway = await openWith(t, [{ users: ['demo'], ceiling: 'safe' }], {
    passthrough: [{ prefix: '/app', upstream: web.url }],
  })
  const statusOf = async (user: string, method: string) => {
    const headers = { authorization: authorizationOf(user) }
    return (await fetch(`${gateway.origin}/app/x`, { method, headers })).status
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    t.equal(await statusOf('demo', method), 403, method)
  t.same(web.seen, [])
  for (const method of ['GET', 'HEAD', 'OPTIONS']) t.equal(await statusOf('demo', method), 200, method)
  t.equal(await statusOf('mary', 'DELETE'), 200)
  t.match(
    await gateway.dependencies.metrics.text(),
    'gateway_ceiling_requests_total{engine="/app",ceiling="safe",result="refused"} 4',
  )
})

t.test('under a ceiling, no WebSocket is opened', async (t) => {
  const node = await startWebSocketNode(t)
  const passthrough = [{ prefix: '/app', upstream: node.url, websocket: true }]
  for (const [user, status] of [
    ['demo', 403],
    ['mary', 101],
  ] as const) {
    const gateway = await openWith(t, [{ users: [user === 'demo' ? 'demo' : 'ben'], ceiling: 'read' }], {
      passthrough,
    })
    const socket = openSocket(gateway.origin)
    t.teardown(() => socket.destroy())
    socket.write(handshake('/app/socket'))
    t.match(await nextBytes(socket), new RegExp(`^HTTP/1.1 ${status} `))
    t.equal(node.handshakes.length, status === 101 ? 1 : 0)
  }
})

t.test(
  'a stored response of an Idempotency-Key is not replayed above the ceiling',
  { skip: redisSkip },
  async (t) => {
    const redis = await startRedis()
    t.teardown(() => redis.stop())
    const open = (ceilings: readonly object[]) =>
      openKeyed(t, redis.url, {
        engine: (_request, response) => response.end('{"id":"x"}'),
        settings: { ...modeOf('off'), health: { probe: false }, limits: { ceilings } },
      })
    const free = await open([])
    t.match(await free.ask('demo', START, keyed('one')), { status: 200 })
    t.same((await free.ask('demo', START, keyed('one'))).forwarded, [], 'the response is stored')
    const limited = await open([{ users: ['demo'], ceiling: 'read' }])
    t.match(await limited.ask('demo', START, keyed('one')), {
      status: 403,
      headers: { 'x-gateway-error': 'GW_CEILING' },
      forwarded: [],
    })
  },
)

t.test('an explanation shows the ceiling, and refuses what it does not permit', async (t) => {
  const gateway = await openWith(t, [{ users: ['demo'], ceiling: 'read' }], modeOf('report'))
  const explain = createExplain(gateway.dependencies, buildDryRun)
  const why = (user: string, request: string) => explain(questionOf({ user, request, body: {} }))
  const refused = await why('demo', 'POST /task/create')
  t.match(refused, {
    ceiling: 'read',
    decision: 'refused',
    stage: 'admit',
    response: { error: 'GW_CEILING' },
  })
  t.match(textOfExplained(refused), 'ceiling read: only operations that read are permitted')
  t.match(await why('demo', 'GET /version'), { ceiling: 'read', decision: 'permitted' })
  const other = await why('mary', 'GET /version')
  t.equal(other.ceiling, 'all')
  t.notMatch(textOfExplained(other), 'ceiling')
})
