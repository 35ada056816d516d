import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const DEFINITIONS = [
  { id: 'work:1', key: 'work', tenantId: null },
  { id: 'work:2', key: 'work', tenantId: 'acme' },
  { id: 'work:3', key: 'work', tenantId: 'globex' },
  { id: 'rest:1', key: 'rest', tenantId: null },
]
const LOCK = 'POST /external-task/fetchAndLock'
const topic = (more = {}) => ({ topicName: 'print', lockDuration: 1000, ...more })

const LOCKED = { workerId: 'w', lockExpirationTime: '2999-01-31T12:00:00.000+0000' }

let tasks: readonly object[] = []
const gateway = await openGateway(t, {
  records: [
    'grant mary PROCESS_DEFINITION:work READ_INSTANCE,UPDATE_INSTANCE',
    'grant ben PROCESS_DEFINITION:work READ_INSTANCE,UPDATE_INSTANCE',
    'revoke ben TASK:* DELETE',
    'grant anna PROCESS_DEFINITION:work READ_INSTANCE,UPDATE_INSTANCE',
    'revoke anna PROCESS_INSTANCE:i1 READ',
  ],
  engine: ({ url, body }, response) => {
    const [path] = url.slice(BASE.length).split('?')
    const answer = path === '/process-definition' ? DEFINITIONS : tasks
    const isBad = body.includes('"lockDuration":-1')
    response.writeHead(isBad ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isBad ? { type: 'InvalidRequestException', message: '' } : answer))
  },
})

async function fetched(user: string, topics: readonly object[]) {
  const { status, body, forwarded } = await gateway.ask(user, LOCK, {
    body: { workerId: 'w', maxTasks: 1, topics },
  })
  const sent = forwarded.find(({ url }) => url.endsWith('/fetchAndLock'))
  const { topics: asked } = JSON.parse(sent?.body.toString() ?? '{}')
  return { status, body, forwarded, asked }
}

t.test(
  'a topic of a tenant member is limited to definitions without a tenant and of the caller’s tenants',
  async (t) => {
    const { asked, status } = await fetched('mary', [topic()])
    t.equal(status, 200)
    t.same(asked, [topic({ processDefinitionIdIn: ['work:1', 'work:2'] })])
  },
)

t.test('a topic that names definitions keeps only those that may be fetched', async (t) => {
  const some = await fetched('mary', [topic({ processDefinitionIdIn: ['work:2', 'work:3', 'rest:1'] })])
  t.same(some.asked, [topic({ processDefinitionIdIn: ['work:2'] })])
  const none = await fetched('mary', [topic({ processDefinitionId: 'work:3' })])
  t.same(none.body, [])
  t.equal(none.asked, undefined)
})

t.test(
  'a topic that names tenants is limited to the caller’s tenants, without a lookup of definitions',
  async (t) => {
    const { asked, forwarded } = await fetched('mary', [topic({ tenantIdIn: ['acme', 'globex'] })])
    t.same(asked, [topic({ tenantIdIn: ['acme'], processDefinitionKeyIn: ['work'] })])
    t.equal(forwarded.length, 1)
  },
)

t.test('a topic that is named twice is narrowed both times', async (t) => {
  const own = topic({ processDefinitionIdIn: ['work:1', 'work:2'] })
  for (const [first, narrowed] of [
    [topic({ processDefinitionId: 'work:1' }), { ...own, processDefinitionId: 'work:1' }],
    [
      topic({ processDefinitionId: 'rest:1' }),
      topic({ processDefinitionId: 'rest:1', processDefinitionIdIn: ['-'] }),
    ],
  ] as const) {
    t.same((await fetched('mary', [first, topic()])).asked, [narrowed, own])
    t.same((await fetched('mary', [topic(), first])).asked, [own, narrowed])
  }
})

t.test('a value of maxTasks that only the engine can validate is sent unchanged', async (t) => {
  for (const user of ['demo', 'mary', 'nobody']) {
    const body = { workerId: 'w', maxTasks: '٣', topics: [topic()] }
    const { forwarded } = await gateway.ask(user, LOCK, { body })
    const sent = forwarded.filter(({ url }) => url.endsWith('/fetchAndLock'))
    t.match(sent, [{ body: /"maxTasks":"٣"/ }], user)
  }
})

t.test('a negative asyncResponseTimeout is sent unchanged, and the response is not held', async (t) => {
  for (const user of ['demo', 'mary', 'nobody']) {
    const body = { workerId: 'w', maxTasks: 1, asyncResponseTimeout: -1, topics: [topic()] }
    const { status, forwarded } = await gateway.ask(user, LOCK, { body })
    t.equal(status, 200, user)
    const sent = forwarded.filter(({ url }) => url.endsWith('/fetchAndLock'))
    t.match(sent, [{ body: /"asyncResponseTimeout":-1/ }], user)
  }
})

t.test('an empty list of tenants does not limit the tenants and does not permit other tenants', async (t) => {
  for (const withoutTenantId of [true, false]) {
    const { asked } = await fetched('mary', [topic({ withoutTenantId, tenantIdIn: [] })])
    t.same(asked[0].processDefinitionIdIn, ['work:1', 'work:2'])
  }
  const { asked, body } = await fetched('ben', [topic({ withoutTenantId: true, tenantIdIn: ['globex'] })])
  t.same([asked, body], [undefined, []])
})

t.test('definitions are decided one by one if revocations apply', async (t) => {
  const { asked } = await fetched('ben', [topic()])
  t.match(asked, [{ processDefinitionIdIn: ['work:1'] }])
})

t.test(
  'a fetch is refused if a revocation on a single instance applies, because no topic can express it',
  async (t) => {
    const { status, asked } = await fetched('anna', [topic()])
    t.same([status, asked], [403, undefined])
  },
)

t.test(
  'tasks whose tenant differs from that of their definition are unlocked, and the fetch is refused',
  async (t) => {
    tasks = [
      { id: 't1', tenantId: null, ...LOCKED },
      { id: 't2', tenantId: 'globex', ...LOCKED },
    ]
    const { status, body, forwarded } = await fetched('mary', [topic()])
    t.equal(status, 403)
    t.notMatch(JSON.stringify(body), /t2/)
    t.same(
      forwarded.filter(({ url }) => url.endsWith('/unlock')).map(({ url }) => url.slice(BASE.length)),
      ['/external-task/t1/unlock', '/external-task/t2/unlock'],
    )
  },
)

t.test('the engine validates the fetch of a caller who may fetch nothing', async (t) => {
  const { status, asked, forwarded } = await fetched('nobody', [topic({ lockDuration: -1 })])
  t.equal(status, 400)
  t.match(asked, [{ processDefinitionIdIn: ['-'] }])
  t.equal(forwarded.length, 1)
})

t.test(
  'a fetch of nothing is sent without asyncResponseTimeout, and tasks that it locks are unlocked',
  async (t) => {
    tasks = [{ id: 't9', tenantId: null, ...LOCKED }]
    const { status, body, forwarded } = await gateway.ask('nobody', LOCK, {
      // Only an engine knows whether it accepts the last member.
      body: { workerId: 'w', maxTasks: 1, asyncResponseTimeout: 100, topics: [topic()], ofNewerEngine: 1 },
    })
    t.same([status, body], [200, []])
    t.same(
      forwarded.map(({ url }) => url.slice(BASE.length)),
      ['/external-task/fetchAndLock', '/external-task/t9/unlock'],
    )
    t.notMatch(forwarded[0]?.body.toString() ?? '', /asyncResponseTimeout/)
  },
)

t.test('a caller who may fetch nothing gets an empty list without a request to the engine', async (t) => {
  const topics = Array.from({ length: 500 }, (_, at) => topic({ topicName: `t${at}` }))
  const objects = topics.map((one) => ({ ...one, deserializeValues: true }))
  for (const members of [{}, { asyncResponseTimeout: 100 }, { usePriority: true }, { topics: objects }]) {
    const { status, body, forwarded } = await gateway.ask('nobody', LOCK, {
      body: { workerId: 'w', maxTasks: 1, topics, ...members },
    })
    t.same([status, body, forwarded], [200, [], []])
  }
})

t.test(
  'a caller who may fetch nothing waits for the empty list as long as for a response of the engine',
  async (t) => {
    const start = performance.now()
    const { forwarded } = await gateway.ask('nobody', LOCK, {
      body: { workerId: 'w', maxTasks: 1, asyncResponseTimeout: 300, topics: [topic()] },
    })
    t.same(forwarded, [])
    t.ok(performance.now() - start >= 290)
  },
)
