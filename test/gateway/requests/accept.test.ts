import t from 'tap'
import { AMBIGUOUS_ACCEPTS } from '../../support/accepts.ts'
import { openGateway, type Seen } from '../../support/open-gateway.ts'

const HAL_FIRST = { accept: 'application/hal+json, application/json; q=0.5' }
const HAL_ONLY = { accept: 'application/hal+json' }

/** The engine lists tasks; all its other lists are empty. It returns 406 if only HAL is accepted and the resource has no HAL form. */
const gateway = await openGateway(t, {
  records: [
    'grant mary PROCESS_DEFINITION:review READ,READ_INSTANCE,READ_HISTORY,READ_TASK',
    'revoke ben TASK:x READ',
    'grant ben TASK:* READ',
    'grant anna PROCESS_DEFINITION:review READ_INSTANCE',
    'grant anna FILTER:* READ',
    'grant anna TASK:t1 READ',
  ],
  engine: ({ method, url, headers }, response) => {
    const path = (url.split('?', 1)[0] ?? '').replace('/engine-rest', '')
    const hasHal = path === '/filter/f/list' || (path === '/task' && method === 'GET')
    const isHal = hasHal && headers.accept?.startsWith('application/hal+json') === true
    const status = headers.accept === HAL_ONLY.accept && !hasHal ? 406 : 200
    response.writeHead(status, { 'content-type': isHal ? 'application/hal+json' : 'application/json' })
    const rows = path.startsWith('/case-definition') ? { count: 0 } : rowsOf(path)
    response.end(JSON.stringify(isHal ? { _embedded: {} } : rows))
  },
})
const { ask } = gateway

function rowsOf(path: string): readonly unknown[] {
  const isTasks = path === '/task' || path.startsWith('/filter/')
  return isTasks ? ['t1', 't2'].map((id) => ({ id, processDefinitionId: null, tenantId: null })) : []
}

function asked(forwarded: readonly Seen[], path: string): readonly Seen[] {
  return forwarded.filter(({ url }) => url.startsWith(`/engine-rest${path}`))
}

const NO_HAL = [
  ['POST /task', {}],
  ['POST /history/external-task-log', {}],
  ['GET /event-subscription', undefined],
  ['GET /external-task/topic-names', undefined],
  ['GET /process-definition', undefined],
  ['POST /process-instance', {}],
  ['GET /execution/count', undefined],
] as const

t.test('a client that prefers HAL gets JSON if the engine has no HAL form', async (t) => {
  for (const user of ['mary', 'nobody', 'ben'])
    for (const [route, body] of NO_HAL) {
      const { status, headers } = await ask(user, route, { headers: HAL_FIRST, body })
      t.same([status, headers['content-type']], [200, 'application/json'], `${user} ${route}`)
    }
})

t.test('a client that accepts only HAL gets the engine’s 406 if there is no HAL form', async (t) => {
  for (const user of ['mary', 'nobody'])
    for (const [route, body] of NO_HAL) {
      const { status, forwarded } = await ask(user, route, { headers: HAL_ONLY, body })
      t.equal(status, 406, `${user} ${route}`)
      t.equal(forwarded.at(-1)?.headers['accept'], HAL_ONLY.accept, `${user} ${route}`)
    }
})

/** Requests that the gateway answers itself. None of them reaches an engine. */
const OWN = [
  ['mary', 'GET /engine', undefined],
  ['mary', 'GET /authorization/check?permissionName=READ&resourceName=task&resourceType=7', undefined],
  ['mary', 'GET /external-task/topic-names?withLockedTasks=true&withUnlockedTasks=true', undefined],
  ['nobody', 'GET /schema/log', undefined],
  ['nobody', 'POST /schema/log', {}],
] as const

t.test('a response of the gateway itself is sent only to clients that accept JSON', async (t) => {
  for (const [user, route, body] of OWN) {
    const whole = await ask(user, route, { headers: HAL_FIRST, body })
    t.match([whole.status, whole.headers['content-type']], [200, 'application/json'], route)
    const none = await ask(user, route, { headers: { accept: 'text/csv' }, body })
    t.equal(none.status, 406, route)
    t.same(none.body, { type: 'NotAcceptableException', message: 'HTTP 406 Not Acceptable', code: null })
    t.equal(none.headers['cache-control'], route.startsWith('GET') ? 'no-cache' : undefined)
    const unread = await ask(user, route, { headers: { accept: 'text/csv;q=x' }, body })
    t.match([unread.status, unread.headers['x-gateway-error']], [400, 'GW_BAD_HEADER'], route)
    t.same([...whole.forwarded, ...none.forwarded, ...unread.forwarded], [], route)
  }
})

t.test('a successful response of the engine where 406 was expected is refused with 403', async (t) => {
  const { status, headers } = await ask('anna', 'GET /event-subscription', {
    headers: { accept: 'text/csv' },
  })
  t.match({ status, headers }, { status: 403, headers: { 'x-gateway-error': 'GW_ITEMS_NOT_EXACT' } })
})

t.test('a list that the caller sees in part is refused if the engine would return HAL', async (t) => {
  for (const [user, route] of [
    ['mary', 'GET /task'],
    ['nobody', 'GET /task'],
    ['anna', 'GET /filter/f/list'],
    ['anna', 'GET /filter/f/singleResult'],
  ] as const)
    for (const headers of [HAL_FIRST, HAL_ONLY]) {
      const { status, forwarded } = await ask(user, route, { headers })
      t.equal(status, 403, `${user} ${route}`)
      t.same(asked(forwarded, route.slice(4)), [])
    }
})

t.test(
  'a list that the gateway filters is requested as JSON, with the media type parameters of the client',
  async (t) => {
    for (const [route, accept, alone] of [
      ['GET /filter/f/list', 'application/json, application/hal+json', 'application/json'],
      ['GET /filter/f/list', '*/*, application/hal+json;q=0', 'application/json'],
      ['GET /filter/f/count', HAL_FIRST.accept, 'application/json'],
      ['GET /filter/f/list', 'application/json;charset=utf-8', 'application/json;charset=utf-8'],
    ] as const) {
      const { status, body, forwarded } = await ask('anna', route, { headers: { accept } })
      t.match([status, body], [200, route.endsWith('count') ? { count: 1 } : [{ id: 't1' }]], route)
      t.match(asked(forwarded, '/filter/f/list'), [{ headers: { accept: alone } }], route)
    }
  },
)

t.test(
  'Accept is unchanged for a caller who sees all items; if two forms exist, only the decided one is sent',
  async (t) => {
    for (const [route, body] of NO_HAL) {
      const { forwarded } = await ask('demo', route, { headers: HAL_FIRST, body })
      t.match(forwarded, [{ headers: HAL_FIRST }], route)
    }
    const { forwarded } = await ask('demo', 'GET /task', { headers: HAL_FIRST })
    t.match(forwarded, [{ headers: HAL_ONLY }])
  },
)

t.test('an ambiguous Accept header is not refused if the operation has only one form', async (t) => {
  for (const accept of AMBIGUOUS_ACCEPTS)
    for (const [route, body] of NO_HAL)
      t.equal((await ask('ben', route, { headers: { accept }, body })).status, 200, `${route} ${accept}`)
})
