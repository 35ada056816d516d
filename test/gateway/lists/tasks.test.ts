import t from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { idsOf } from '../../sandbox/asks.ts'
import { type Answer, openGateway, sandboxIds, type Seen } from '../../support/open-gateway.ts'
import { DEMO_RECORDS } from '../../support/people.ts'

const [standing = ''] = await sandboxIds(t, '/task?processDefinitionKey=moving')
const gateway = await openGateway(t, {
  records: [
    ...DEMO_RECORDS,
    `grant anna TASK:${standing} READ`,
    'grant anna PROCESS_DEFINITION:external READ_TASK',
    'grant ben TASK:* READ',
    `revoke ben TASK:${standing} READ`,
  ],
})
const { ask } = gateway

/** Returns the or-blocks of a query as the engine received it. */
function blocksOf(seen: Seen | undefined): readonly unknown[] {
  const query: unknown = JSON.parse(seen?.body.toString() || '{}')
  return isRecord(query) && Array.isArray(query['orQueries']) ? query['orQueries'] : []
}

function keysOf({ body }: Answer): string[] {
  if (!Array.isArray(body)) throw new Error(JSON.stringify(body))
  const definitions = body.map((row: unknown) => (isRecord(row) ? row['processDefinitionId'] : null))
  return [...new Set(definitions.map((id) => String(id).split(':')[0] ?? ''))].sort()
}

/** Returns the task queries that the engine received. Requests for the links of the caller are not included. */
function accessRequestOf({ forwarded }: Answer): readonly Seen[] {
  return forwarded.filter(
    ({ url }) =>
      /\/engine-rest\/task(\/count)?(\?|$)/.test(url) && !/involvedUser=|includeAssignedTasks=/.test(url),
  )
}

const MINE = { processDefinitionKeyIn: ['review'] }

t.test('a caller sees the tasks that their records name, and the engine selects them', async (t) => {
  const answer = await ask('mary', 'POST /task', { body: {} })
  t.equal(answer.status, 200)
  t.same(keysOf(answer), ['review'])
  const [asked, ...others] = accessRequestOf(answer)
  t.match(asked, { method: 'POST', url: '/engine-rest/task' })
  t.same(others, [])
  t.match(blocksOf(asked), [MINE])
})

t.test('all other parts of a query are sent as the client wrote them', async (t) => {
  const body = '{ "taskVariables" : [ {"name":"a", "operator":"eq", "value":12345678901234567890} ] }'
  const [asked] = accessRequestOf(await ask('mary', 'POST /task?maxResults=1', { body }))
  t.match(asked?.body.toString(), body.slice(0, -1).trim())
  t.equal(asked?.url, '/engine-rest/task?maxResults=1')
})

t.test('or-blocks of the caller are kept, and cannot make more tasks visible', async (t) => {
  const own = { processDefinitionKeyIn: ['moving', 'review'] }
  const answer = await ask('mary', 'POST /task', { body: { orQueries: [own] } })
  t.same(keysOf(answer), ['review'])
  const blocks = blocksOf(accessRequestOf(answer)[0])
  t.same(blocks[0], own)
  t.match(blocks, [own, MINE])
})

t.test('a query with a byte order mark is rewritten like any other query', async (t) => {
  const answer = await ask('mary', 'POST /task', { body: Buffer.from('\ufeff{}') })
  t.equal(answer.status, 200)
  t.same(keysOf(answer), ['review'])
})

t.test('GET returns the same tasks as POST', async (t) => {
  for (const [query, body] of [
    ['', {}],
    ['?unassigned=true', { unassigned: true }],
    ['?processDefinitionKey=moving', { processDefinitionKey: 'moving' }],
    ['?processInstanceBusinessKey=order-1', { processInstanceBusinessKey: 'order-1' }],
  ] as const) {
    const [got, posted] = [await ask('mary', `GET /task${query}`), await ask('mary', 'POST /task', { body })]
    t.same([got.status, got.body], [200, posted.body], query)
  }
})

t.test('the page of a GET stays in the query string', async (t) => {
  const answer = await ask('mary', 'GET /task?firstResult=1&maxResults=1')
  t.match(answer, { status: 200, body: { length: 1 } })
  t.match(accessRequestOf(answer), [{ url: '/engine-rest/task?firstResult=1&maxResults=1' }])
})

t.test('counts and lists contain the same tasks', async (t) => {
  t.same((await ask('mary', 'GET /task/count')).body, { count: 3 })
  t.same((await ask('mary', 'POST /task/count', { body: {} })).body, { count: 3 })
  t.same((await ask('mary', 'GET /engine/second/task/count')).body, { count: 1 })
})

t.test('a caller without a grant sees nothing, and no task query is sent', async (t) => {
  for (const [route, body] of [
    ['GET /task', []],
    ['POST /task', []],
    ['GET /task/count', { count: 0 }],
    ['POST /task/count', { count: 0 }],
  ] as const) {
    const answer = await ask('nobody', route, route.startsWith('POST') ? { body: {} } : {})
    t.same(
      [answer.status, answer.body, answer.headers['content-type']],
      [200, body, 'application/json'],
      route,
    )
    t.same(accessRequestOf(answer), [], route)
  }
})

t.test('an invalid query is refused even for a caller without a grant', async (t) => {
  t.match(await ask('nobody', 'GET /task?maxResults=abc'), {
    status: 404,
    body: { type: 'QueryParamException' },
  })
  t.match(await ask('nobody', 'POST /task', { body: { priority: {} } }), { status: 400 })
  t.match(await ask('nobody', 'GET /task?assigneeExpression=x'), { status: 400 })
})

t.test('the query of a caller who may see all tasks is sent unchanged', async (t) => {
  const body = '{"priority" : 50,\n "unknown":12345678901234567890}'
  const posted = await ask('demo', 'POST /task?x=%20&x=2', { body })
  t.match(posted.forwarded, [{ method: 'POST', url: '/engine-rest/task?x=%20&x=2' }])
  t.equal(posted.forwarded[0]?.body.toString(), body)
  const got = await ask('demo', 'GET /task?sortBy=created&sortOrder=asc')
  t.match(got.forwarded, [{ method: 'GET', url: '/engine-rest/task?sortBy=created&sortOrder=asc' }])
})

t.test(
  'HAL, which embeds unchecked entities, is returned only to callers who may see everything',
  async (t) => {
    for (const accept of [
      'application/hal+json',
      'application/hal+json, application/json; q=0.5',
      'APPLICATION/HAL+JSON, application/json;q=0.5',
    ]) {
      const refused = await ask('mary', 'GET /task', { headers: { accept } })
      t.match(refused, { status: 403, headers: { 'x-gateway-error': 'GW_ITEMS_NOT_EXACT' } })
      t.same(accessRequestOf(refused), [])
    }
    const { forwarded } = await ask('demo', 'GET /task', { headers: { accept: 'application/hal+json' } })
    t.match(forwarded, [{ headers: { accept: 'application/hal+json' } }])
  },
)

t.test('a grant on one task adds that task to those of a process definition', async (t) => {
  const answer = await ask('anna', 'POST /task', { body: {} })
  t.match(answer.body, [{ id: standing }])
  t.match(answer.body, { length: 1 })
  const [block] = blocksOf(accessRequestOf(answer)[0])
  t.match(block, { processDefinitionKeyIn: ['external'], taskIdIn: [standing] })
})

t.test('a revocation removes one task from a grant on all tasks', async (t) => {
  const { body } = await ask('ben', 'POST /task', { body: {} })
  const ids = Array.isArray(body) ? body.map((row: unknown) => (isRecord(row) ? row['id'] : null)) : []
  t.ok(ids.length > 0)
  t.notOk(ids.includes(standing))
})

t.test('an assigned task is visible to its assignee without a record', async (t) => {
  const other = await openGateway(t, { records: [] })
  const [given = ''] = await idsOf(other.engine.base, '/task?assignee=mary')
  t.match(await other.ask('mary', 'POST /task', { body: {} }), { status: 200, body: [{ id: given }] })
  t.match(await other.ask('mary', 'GET /task/count'), { status: 200, body: { count: 1 } })
  t.match(await other.ask('mary', `GET /task/${given}`), { status: 200, body: { id: given } })
})

t.test(
  'if the engine refuses the rewritten query, the caller gets the error of the original GET',
  async (t) => {
    // For one query the engine responds with 400 to both methods, and for the other only to POST.
    const other = await openGateway(t, {
      engine: ({ method, url }, response) =>
        response
          .writeHead(url.includes('good') ? 200 : 400, { 'content-type': 'application/json' })
          .end(JSON.stringify([{ method }])),
    })
    const answer = await other.ask('mary', 'GET /task?name=x')
    t.match(answer, { status: 400, body: [{ method: 'GET' }] })
    t.same(
      accessRequestOf(answer).map(({ method, url }) => `${method} ${url}`),
      ['POST /engine-rest/task', 'GET /engine-rest/task?name=x'],
    )
    const unnarrowed = await other.ask('mary', 'GET /task?name=good')
    t.match(
      unnarrowed,
      { status: 400, body: [{ method: 'POST' }] },
      'rows that were not narrowed never go out',
    )
  },
)

t.test('in a rewritten query, a semicolon separates no parameters and a plus sign is a space', async (t) => {
  for (const [written, value] of [
    ['review;processDefinitionKey=external', 'review;processDefinitionKey=external'],
    ['external;processDefinitionKey=review', 'external;processDefinitionKey=review'],
    ['re+view', 're view'],
    ['re%2Bview', 're+view'],
  ] as const) {
    const answer = await ask('mary', `GET /task?processDefinitionKey=${written}`)
    t.match(answer, { status: 200, body: [] }, written)
    const [sent] = accessRequestOf(answer)
    t.match(JSON.parse(String(sent?.body)), { processDefinitionKey: value }, written)
  }
})

t.test(
  'or-blocks and an unknown sort order in a query string get the same error as from the engine',
  async (t) => {
    for (const [query, status, message] of [
      ['orQueries=x', 500, 'argument type mismatch'],
      ['sortBy=x%27--&sortOrder=asc', 400, "Cannot set query parameter 'sortBy' to value 'x'--'"],
    ] as const)
      for (const path of ['/task', '/task/count'])
        for (const user of ['demo', 'mary', 'nobody'])
          t.match(
            await ask(user, `GET ${path}?${query}`),
            { status, body: { message, code: null }, forwarded: [] },
            `${path}?${query} by ${user}`,
          )
  },
)

t.test('half a surrogate pair in a name is sent as the client wrote it', async (t) => {
  const body = String.raw`{"na\ud800me":"x"}`
  for (const user of ['demo', 'mary', 'nobody']) {
    const answer = await ask(user, 'POST /task', { body })
    t.equal(answer.status, 200, user)
    t.match(String(accessRequestOf(answer)[0]?.body), String.raw`{"na\ud800me":"x"`, user)
  }
})
