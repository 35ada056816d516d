import t from 'tap'
import { Random } from '../../differential/random.ts'
import { type Ask, openGateway } from '../../support/open-gateway.ts'
import { makeExpression, type MadeExpression } from '../../support/query-expressions.ts'
import { hasFullSize, seed } from '../../support/requirements.ts'

const RECORDS = ['everybody TASK:* READ', 'everybody FILTER:* ALL']

/** An engine in which every list is empty. */
const open = (settings: Readonly<Record<string, unknown>> = {}) =>
  openGateway(t, {
    records: RECORDS,
    settings: {
      authorization: { tenants: 'ignore', records: { source: 'file', file: 'records.yaml' } },
      ...settings,
    },
    engine: (request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(/\/count/.test(request.url) ? '{"count":0}' : '[]')
    },
  })

const gateway = await open()
const INPUTS = hasFullSize ? 10_000 : 1_500

/** The places in which a request can contain an expression, apart from a stored filter. */
const PLACES: readonly ((name: string, text: string) => readonly [string, Ask])[] = [
  (name, text) => ['POST /task', { body: { [name]: text } }],
  (name, text) => ['POST /task', { body: { orQueries: [{}, { [name]: text }] } }],
  (name, text) => ['POST /task/count', { body: { orQueries: [{ [name]: text }] } }],
  (name, text) => ['POST /task/count', { body: { orQueries: [{ orQueries: [{ [name]: text }] }] } }],
  (name, text) => [`GET /task?${new URLSearchParams([[name, text]])}`, {}],
  (name, text) => ['POST /filter/create', { body: { resourceType: 'Task', query: { [name]: text } } }],
  (name, text) => [
    'PUT /filter/f',
    { body: { resourceType: 'Task', query: { orQueries: [{ [name]: text }] } } },
  ],
]

const MEMBERS: Readonly<Record<MadeExpression['value'], string>> = {
  date: 'dueAfterExpression',
  'caller id': 'ownerExpression',
  'caller groups': 'candidateGroupsExpression',
  unknown: 'dueBeforeExpression',
}

t.test('of generated expressions, only known ones reach the engine', async (t) => {
  const wrong: string[] = []
  for (let place = 0; place < INPUTS; place += 1) {
    const random = Random.of(seed + 7_300, place)
    const { text, value } = makeExpression(random)
    const [route, ask] = random.pick(PLACES)(MEMBERS[value], text)
    const { status, headers, forwarded } = await gateway.ask('demo', route, ask)
    const isSent = forwarded.length > 0
    const isRefused = status === 400 && headers['x-gateway-error'] === 'GW_HAZARD'
    if (value === 'unknown' ? isSent || !isRefused : !isSent)
      wrong.push(`${value} ${route} ${JSON.stringify(text)}: ${status}`)
  }
  t.same(wrong, [])
})

t.test('in or-blocks, the caller replaces the expressions that name them', async (t) => {
  const body =
    '{ "orQueries" : [ {"assigneeExpression":"${ currentUser() }"}, {"candidateGroupsExpression":"${currentUserGroups()}","priority":1.0} ] }'
  for (const route of ['POST /task', 'POST /task/count']) {
    const { forwarded } = await gateway.ask('mary', route, { body })
    t.equal(
      forwarded.at(-1)?.body.toString(),
      '{ "orQueries" : [ {"assignee": "mary"}, {"priority":1.0,"candidateGroups": ["clerks"]} ] }',
    )
  }
})

t.test('outside of or-blocks, the expression is left to the engine, which refuses it', async (t) => {
  const body = '{"assigneeExpression":"${currentUser()}"}'
  const { forwarded } = await gateway.ask('mary', 'POST /task', { body })
  t.equal(forwarded.at(-1)?.body.toString(), body)
})

t.test('if the engine accepts expressions, the caller replaces them everywhere', async (t) => {
  const accepting = await open({ validation: { allow: ['expressions'] } })
  const body = '{"assigneeExpression":"${currentUser()}","ownerExpression":"${any.code()}"}'
  const { forwarded } = await accepting.ask('mary', 'POST /task', { body })
  t.same(JSON.parse(forwarded.at(-1)?.body.toString() ?? ''), {
    ownerExpression: '${any.code()}',
    assignee: 'mary',
  })
})

t.test('a text of the configuration is accepted, and no other one', async (t) => {
  const own = '${calendar.nextWorkingDay()}'
  const listing = await open({ validation: { expressions: ['calendar.nextWorkingDay()'] } })
  const accepted = await listing.ask('mary', 'POST /task', dueAfter(own))
  t.equal(accepted.status, 200)
  t.match(JSON.parse(accepted.forwarded.at(-1)?.body.toString() ?? ''), dueAfter(own).body)
  t.match(await listing.ask('mary', 'POST /task', dueAfter('${ calendar.nextWorkingDay()}')), {
    status: 400,
    forwarded: [],
  })
  t.match(await gateway.ask('mary', 'POST /task', dueAfter(own)), { status: 400, forwarded: [] })
})

/** A gateway in front of an engine whose filters have one stored query. */
async function openFilters(stored: unknown, settings: Readonly<Record<string, unknown>> = {}) {
  return openGateway(t, {
    records: RECORDS,
    settings: { ...settings },
    engine: ({ url }, response) => {
      const filter = { id: 'f', resourceType: 'Task', name: 'f', owner: null, query: stored, properties: {} }
      const found = url.endsWith('/filter/f')
        ? filter
        : /\/filter\/?(?:\?|$)/.test(url)
          ? [filter]
          : /\/count/.test(url)
            ? { count: 0 }
            : []
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(found))
    },
  })
}

const EXECUTIONS = ['list', 'count', 'singleResult'].flatMap((form) => [
  [`GET /filter/f/${form}`, {}] as const,
  [`POST /filter/f/${form}`, { body: {} }] as const,
])

t.test('a filter is not executed if its stored query has an unknown expression', async (t) => {
  for (const stored of [
    { assigneeExpression: '${"".getClass()}' },
    { orQueries: [{ dueAfterExpression: '${now().getTime()}' }] },
  ]) {
    const filters = await openFilters(stored)
    for (const [route, ask] of EXECUTIONS) {
      const { status, headers, forwarded } = await filters.ask('mary', route, ask)
      t.match({ status, code: headers['x-gateway-error'] }, { status: 400, code: 'GW_HAZARD' }, route)
      t.same(
        forwarded.filter(({ url }) => /\/(?:list|count|singleResult)/.test(url)),
        [],
        'nothing is executed',
      )
    }
  }
})

t.test('items of filters are not counted if a stored query has an unknown expression', async (t) => {
  const filters = await openFilters({ ownerExpression: '${x}' })
  for (const route of ['GET /filter?itemCount=TRUE&maxResults=5', 'GET /filter/f?itemCount=true']) {
    const { status, headers, forwarded } = await filters.ask('demo', route)
    t.match({ status, code: headers['x-gateway-error'] }, { status: 400, code: 'GW_HAZARD' }, route)
    t.same(
      forwarded.filter(({ url }) => /itemCount/i.test(url)),
      [],
      'nothing is counted',
    )
  }
  t.equal((await filters.ask('demo', 'GET /filter?maxResults=5')).status, 200, 'the filters can be listed')
})

t.test('a filter that names the caller has no condition that the engine does not show', async (t) => {
  const filters = await openFilters({})
  const naming = { orQueries: [{ ownerExpression: '${currentUser()}' }] }
  const hidden = { tenantIdIn: ['acme'], withoutCandidateGroups: true, taskIdIn: ['t'], assigneeNotIn: ['x'] }
  for (const [name, value] of Object.entries(hidden))
    for (const route of ['POST /filter/create', 'PUT /filter/f']) {
      const body = { resourceType: 'Task', query: { ...naming, [name]: value } }
      const { status, headers, forwarded } = await filters.ask('demo', route, { body })
      t.match({ status, code: headers['x-gateway-error'] }, { status: 400, code: 'GW_HAZARD' }, name)
      t.notOk(forwarded.some(({ method }) => method !== 'GET'))
    }
  const stored = [
    { tenantIdIn: ['acme'] },
    { ...naming, tenantIdIn: [], taskId: null, withCandidateGroups: false },
    { dueAfterExpression: '${now()}', tenantIdIn: ['acme'] },
  ]
  for (const query of stored) {
    const body = { resourceType: 'Task', query }
    const { headers } = await filters.ask('demo', 'POST /filter/create', { body })
    t.equal(headers['x-gateway-error'], undefined, JSON.stringify(query))
  }
})

t.test('a filter with known expressions is executed', async (t) => {
  const filters = await openFilters({
    orQueries: [{ dueAfterExpression: '${ now() }' }],
    dueBeforeExpression: null,
  })
  for (const [route, ask] of EXECUTIONS) {
    const { headers, forwarded } = await filters.ask('demo', route, ask)
    t.equal(headers['x-gateway-error'], undefined, route)
    t.ok(
      forwarded.some(({ url }) => /\/filter\/f\/(?:list|count|singleResult)/.test(url)),
      route,
    )
  }
})

function dueAfter(text: string): Ask & { readonly body: Readonly<Record<string, unknown>> } {
  return { body: { orQueries: [{ dueAfterExpression: text }] } }
}
