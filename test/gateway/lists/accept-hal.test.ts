import t, { type Test } from 'tap'
import { ACCEPTS, AMBIGUOUS_ACCEPTS, BAD_ACCEPTS } from '../../support/accepts.ts'
import { openGateway } from '../../support/open-gateway.ts'

const HAL = { accept: 'application/hal+json' }
const TASK = { id: 't1', processDefinitionId: null, tenantId: null }
const EMBEDDED = 'USER:* GROUP:* PROCESS_DEFINITION:*'.split(' ')
const ROUTES = ['GET /task/t1', 'GET /task', 'GET /filter/f/list', 'GET /filter/f/singleResult']

// An engine without authorization embeds every entity that a task names: definitions, users with their email addresses, groups.

const RECORDS = [
  ...['TASK:* READ', 'FILTER:* READ'].map((grant) => `everybody ${grant}`),
  ...EMBEDDED.slice(1).map((on) => `grant mary ${on} READ`),
  ...EMBEDDED.map((on) => `grant anna ${on} READ`),
  ...EMBEDDED.map((on) => `grant ben ${on} READ`),
  'revoke ben USER:demo READ',
]

async function open(test: Test, tenants: 'check' | 'ignore') {
  const { ask } = await openGateway(test, {
    records: RECORDS,
    settings: { authorization: { records: { source: 'file', file: 'records.yaml' }, tenants } },
    engine: ({ url, headers }, response) => {
      // Returns HAL whenever Accept mentions it, whatever else the client accepts. No parser of Accept can differ more from the gateway's.
      const isHal = headers.accept?.includes('hal+json') === true && /^\/engine-rest\/(task|filter)/.test(url)
      response.writeHead(200, { 'content-type': isHal ? HAL.accept : 'application/json' })
      const isOne = /\/task\/t1$|singleResult$/.test(url)
      const rows = /case-definition|count/.test(url) ? { count: 0 } : isOne ? TASK : [TASK]
      response.end(JSON.stringify(isHal ? { _embedded: { user: [{ id: 'z' }] } } : rows))
    },
  })
  return ask
}

t.test('HAL is returned only to callers from whom no embedded item would be hidden', async (t) => {
  const ask = await open(t, 'ignore')
  for (const route of ROUTES)
    for (const [user, status] of [
      ['demo', 200],
      ['anna', 200],
      ['mary', 403],
      ['nobody', 403],
      ['ben', 403],
    ] as const) {
      const answer = await ask(user, route, { headers: HAL })
      t.equal(answer.status, status, `${user} ${route}`)
      const seen = answer.forwarded.filter(({ headers }) => headers.accept === HAL.accept)
      t.equal(seen.length, status === 200 ? 1 : 0)
      if (status === 403) t.equal(answer.headers['x-gateway-error'], 'GW_ITEMS_NOT_EXACT')
      else t.match(answer.bytes.toString(), /_embedded/)
    }
})

t.test('only administrators receive HAL if tenants are checked', async (t) => {
  const ask = await open(t, 'check')
  for (const route of ROUTES) {
    t.equal((await ask('demo', route, { headers: HAL })).status, 200, route)
    t.equal((await ask('anna', route, { headers: HAL })).status, 403, route)
  }
})

t.test(
  'a task that Accept does not request as HAL is returned to every caller who may read it',
  async (t) => {
    const ask = await open(t, 'check')
    for (const accept of ['application/json', '*/*', 'application/json, application/hal+json', 'text/html'])
      t.equal((await ask('nobody', 'GET /task/t1', { headers: { accept } })).status, 200, accept)
  },
)

t.test('a request that is decided as JSON is sent to the engine without HAL in Accept', async (t) => {
  const ask = await open(t, 'ignore')
  for (const route of ROUTES)
    for (const [accept, form] of ACCEPTS) {
      if (form === 'hal') continue
      const { forwarded, bytes } = await ask('nobody', route, { headers: { accept } })
      const sent = forwarded.filter(({ url }) => /^\/engine-rest\/(task|filter)/.test(url))
      t.ok(
        sent.length > 0 && sent.every(({ headers }) => !headers.accept?.includes('hal')),
        `${route} ${accept}`,
      )
      t.notMatch(bytes.toString(), '_embedded', `${route} ${accept}`)
    }
})

t.test('an Accept header that can be read in two ways is refused and not sent to the engine', async (t) => {
  const ask = await open(t, 'ignore')
  for (const route of ROUTES)
    for (const accept of [...AMBIGUOUS_ACCEPTS, ...BAD_ACCEPTS])
      for (const user of ['nobody', 'demo']) {
        const { status, headers, body, forwarded } = await ask(user, route, { headers: { accept } })
        t.match([status, headers['x-gateway-error']], [400, 'GW_BAD_HEADER'], `${user} ${route} ${accept}`)
        t.match(body, { type: 'InvalidRequestException', message: /^Accept / })
        t.same(
          forwarded.filter((one) => one.headers.accept === accept),
          [],
        )
      }
})

t.test(
  'HAL of a filter, which may embed variables, is returned only to callers who may see all variables',
  async (t) => {
    const all = ['USER:* READ', 'GROUP:* READ', 'FILTER:* READ']
    const { ask } = await openGateway(t, {
      records: [
        ...['anna', 'ben'].flatMap((user) => all.map((grant) => `grant ${user} ${grant}`)),
        'grant anna PROCESS_DEFINITION:* READ,READ_TASK',
        'grant ben PROCESS_DEFINITION:* READ,READ_TASK,READ_INSTANCE',
      ],
      settings: { authorization: { records: { source: 'file', file: 'records.yaml' }, tenants: 'ignore' } },
      engine: ({ url }, response) => {
        const isHal = /^\/engine-rest\/(task|filter)/.test(url)
        response.writeHead(200, { 'content-type': isHal ? HAL.accept : 'application/json' })
        response.end(JSON.stringify(isHal ? { _embedded: { task: [] } } : { count: 0 }))
      },
    })
    for (const route of ['GET /filter/f/list', 'POST /filter/f/list', 'GET /filter/f/singleResult'])
      for (const [user, status] of [
        ['anna', 403],
        ['ben', 200],
      ] as const) {
        const answer = await ask(user, route, { headers: HAL, ...(route.startsWith('POST') && { body: {} }) })
        t.equal(answer.status, status, `${user} ${route}`)
      }
    t.equal(
      (await ask('anna', 'GET /task', { headers: HAL })).status,
      200,
      'a list of tasks embeds no variables',
    )
  },
)
