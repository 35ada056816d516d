import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const some = <T>(count: number, itemOf: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => itemOf(at))
const keys = (count: number) => Object.fromEntries(some(count, (at) => [`k${at}`, { value: 'x' }]))
const condition = (at: number) => ({ name: `v${at}`, operator: 'eq', value: 'x' })

/** Requests with a list of so many items, and the default limit of its kind. */
const LISTS: readonly (readonly [
  kind: string,
  most: number,
  ask: (count: number) => readonly [string, object],
])[] = [
  [
    'topics',
    500,
    (count) => [
      'POST /external-task/fetchAndLock',
      {
        workerId: 'w',
        maxTasks: 1,
        topics: some(count, (at) => ({ topicName: `t${at}`, lockDuration: 1000 })),
      },
    ],
  ],
  ['correlationKeys', 100, (count) => ['POST /message', { messageName: 'm', correlationKeys: keys(count) }]],
  ['conditions', 50, (count) => ['POST /task', { processVariables: some(count, condition) }]],
  [
    'orQueries',
    100,
    (count) => ['POST /task/count', { orQueries: some(count, (at) => ({ assignee: `a${at}` })) }],
  ],
  [
    'sorting',
    20,
    (count) => ['POST /task', { sorting: some(count, () => ({ sortBy: 'name', sortOrder: 'asc' })) }],
  ],
  [
    'ids',
    20_000,
    (count) => ['POST /process-instance', { processInstanceIds: some(count, (at) => `i${at}`) }],
  ],
]

const gateway = await openGateway(t, {
  settings: { limits: { pressure: { eventLoopDelay: null } } },
  engines: { unchecked: { validation: { mode: 'off' } } },
  engine: ({ url }, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(url.endsWith('/count') ? '{"count":0}' : '[]')
  },
})

for (const [kind, most, ask] of LISTS)
  t.test(
    `a list of more than ${most} items is refused with limits.items.${kind} and does not reach the engine`,
    async (t) => {
      const [route, within] = ask(most)
      const permitted = await gateway.ask('demo', route, { body: within })
      t.equal(permitted.status, 200)
      t.not(permitted.forwarded.length, 0)
      const refused = {
        status: 400,
        headers: { 'x-gateway-error': 'GW_INVALID_BODY' },
        body: { message: new RegExp(`limits\\.items\\.${kind}\\)`) },
      }
      for (const [user, path] of [
        ['demo', route],
        ['nobody', route],
        ['demo', route.replace(' /', ' /engine/unchecked/')],
      ] as const) {
        const answer = await gateway.ask(user, path, { body: ask(most + 1)[1] })
        t.match(answer, refused, path)
        t.same(answer.forwarded, [], path)
      }
    },
  )

const listOf = (count: number) => some(count, (at) => `v${at}_eq_x`).join(',')

t.test('conditions in a query string have the same limit', async (t) => {
  const permitted = await gateway.ask('demo', `GET /history/process-instance?variables=${listOf(50)}`)
  t.equal(permitted.status, 200)
  const answer = await gateway.ask('demo', `GET /history/process-instance?variables=${listOf(51)}`)
  t.match(answer, {
    status: 400,
    headers: { 'x-gateway-error': 'GW_INVALID_QUERY' },
    body: { message: /limits\.items\.conditions/ },
  })
  t.same(answer.forwarded, [])
})
