import t from 'tap'
import { integerOf, PAGING } from '../../../src/request/paging.ts'
import { openGateway, type Seen } from '../../support/open-gateway.ts'

const ROWS = ['review', 'external', 'review', 'review'].map((key, index) => ({
  id: `${index}`,
  processDefinitionId: `${key}:1`,
  processDefinitionKey: key,
  processInstanceId: `i${index}`,
  topicName: `${key}-${index}`,
  tenantId: null,
}))

/** The engine filters and pages its lists. A number below -1 makes its database fail. */
const gateway = await openGateway(t, {
  records: ['grant mary PROCESS_DEFINITION:review READ,READ_INSTANCE,READ_HISTORY'],
  engine: ({ url, body }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://engine')
    const posted: unknown = body.length > 0 ? JSON.parse(body.toString()) : {}
    const query = { ...Object(posted), ...Object.fromEntries(searchParams) }
    const [first = 0, max = null] = PAGING.map((name) => integerOf(searchParams.get(name) ?? ''))
    const isBad = !pathname.endsWith('/count') && Math.min(first ?? 0, max ?? 0) < -1
    const answer = answerOf(pathname, query)
    const page = Array.isArray(answer) ? pageOf(answer, first ?? 0, max) : answer
    const shown = isBad ? { type: 'Persistence' } : page
    response.writeHead(isBad ? 500 : 200, { 'content-type': 'application/json', 'cache-control': 'no-cache' })
    response.end(JSON.stringify(shown))
  },
})

function pageOf(rows: readonly unknown[], first: number, max: number | null): readonly unknown[] {
  return first === -1 || max === -1 ? [] : rows.slice(first, first + (max ?? rows.length))
}

const DEFINITIONS = ['review', 'external'].map((key) => ({ id: `${key}:1`, key, tenantId: null }))

function answerOf(
  pathname: string,
  { processDefinitionId: id, processDefinitionIdIn: ids, tenantIdIn }: Record<string, unknown>,
): unknown {
  if (pathname.endsWith('/statistics')) return STATISTICS
  if (pathname.endsWith('/process-definition'))
    return DEFINITIONS.filter((one) => typeof ids !== 'string' || ids.split(',').includes(one.id))
  if (pathname.includes('/process-definition/'))
    return DEFINITIONS.find((one) => pathname.endsWith(encodeURIComponent(one.id)))
  if (pathname.endsWith('/history/process-instance')) return []
  const found = ROWS.filter(
    (row) => tenantIdIn === undefined && (id ?? row.processDefinitionId) === row.processDefinitionId,
  )
  return pathname.endsWith('/count') ? { count: found.length } : found
}

const { ask } = gateway

const STATISTICS = ['a', 'b'].map((id) => ({ id, definition: { key: 'review', tenantId: null } }))

const LISTS = ['GET /event-subscription', 'POST /history/external-task-log', 'GET /external-task'] as const

function idsOf(body: unknown): readonly string[] {
  return Array.isArray(body) ? body.map((row) => Object(row).id) : [JSON.stringify(body)]
}

t.test(
  'page numbers in every form that the engine reads are accepted for lists that the gateway filters',
  async (t) => {
    for (const route of LISTS)
      for (const [query, ids] of [
        ['maxResults=%2B1', ['0']],
        ['maxResults=%D9%A1', ['0']],
        ['maxResults=', ['0', '2', '3']],
        ['firstResult=&maxResults=2', ['0', '2']],
        ['firstResult=01&maxResults=1', ['2']],
      ] as const) {
        const body = route.startsWith('POST') ? {} : undefined
        const answer = await ask('mary', `${route}?${query}`, { body })
        t.same([answer.status, idsOf(answer.body)], [200, ids], `${route} ${query}`)
      }
  },
)

t.test('firstResult or maxResults of -1 gives an empty list', async (t) => {
  for (const route of LISTS)
    for (const query of ['maxResults=-1', 'firstResult=-1', 'firstResult=1&maxResults=-1']) {
      const body = route.startsWith('POST') ? {} : undefined
      const { status, body: rows } = await ask('mary', `${route}?${query}`, { body })
      t.same([status, rows], [200, []], `${route} ${query}`)
    }
})

t.test('a query with a number below -1 gets the response of the engine', async (t) => {
  for (const user of ['mary', 'nobody'])
    for (const route of LISTS) {
      const body = route.startsWith('POST') ? {} : undefined
      const answer = await ask(user, `${route}?firstResult=-5&maxResults=-5`, { body })
      t.match(answer, { status: 500, body: { type: 'Persistence' } }, `${user} ${route}`)
      t.match(answer.forwarded.at(-1)?.url, /\?firstResult=-5&maxResults=-5$/)
    }
})

t.test('counts ignore the page', async (t) => {
  for (const query of ['maxResults=1', 'firstResult=2', 'maxResults=-5', 'maxResults=abc']) {
    const { status, body } = await ask('mary', `GET /event-subscription/count?${query}`)
    t.same([status, body], [200, { count: 3 }], query)
  }
})

t.test('a list that the engine always returns whole ignores the page', async (t) => {
  const { status, body } = await ask('mary', 'GET /process-definition/statistics?maxResults=1')
  t.same([status, body], [200, STATISTICS])
})

function urlOf(forwarded: readonly Seen[]): string | undefined {
  return forwarded.map(({ url }) => url).find((url) => url.includes('/external-task?'))
}

t.test(
  'a query for topic names is sent with the parameters that the engine reads, and without a page',
  async (t) => {
    for (const [query, sent] of [
      ['withLockedTasks=TRUE', 'locked=true&'],
      ['withUnlockedTasks=True&withRetriesLeft=tRUE', 'notLocked=true&withRetriesLeft=true&'],
      ['withLockedTasks=%20true&withRetriesLeft=x&withUnlockedTasks=', ''],
      ['withLockedTasks=x&withLockedTasks=true', ''],
      ['maxResults=0', ''],
      ['maxResults=abc&firstResult=-5', ''],
    ] as const) {
      const { status, body, forwarded } = await ask('mary', `GET /external-task/topic-names?${query}`)
      t.same([status, body], [200, ['review-0', 'review-2', 'review-3']], query)
      t.equal(urlOf(forwarded), `/engine-rest/external-task?${sent}firstResult=0&maxResults=1001`, query)
    }
  },
)

t.test('a query for topic names with an unknown parameter is refused for a restricted caller', async (t) => {
  for (const query of ['topicName=foo', 'locked=true', 'withLockedTasks=true&active=abc']) {
    const { status, forwarded } = await ask('mary', `GET /external-task/topic-names?${query}`)
    t.equal(status, 403, query)
    t.equal(urlOf(forwarded), undefined, query)
  }
})

t.test('every response to GET has Cache-Control no-cache, and no response to HEAD has it', async (t) => {
  for (const user of ['mary', 'nobody'])
    for (const path of ['/event-subscription', '/external-task/topic-names', '/execution/count', '/task']) {
      const got = await ask(user, `GET ${path}`)
      t.match([got.status, got.headers['cache-control']], [200, 'no-cache'], `GET ${user} ${path}`)
      const head = await ask(user, `HEAD ${path}`)
      t.same([head.status, head.headers['cache-control']], [200, undefined], `HEAD ${user} ${path}`)
    }
})
