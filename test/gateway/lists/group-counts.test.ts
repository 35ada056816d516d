import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const task = (id: string, tenantId: string | null) => ({ id, tenantId })
const many = (count: number, tenantId: string | null) =>
  Array.from({ length: count }, (_, at) => task(`${tenantId}${at}`, tenantId))
/** Tasks without a tenant. The tests add tasks of three tenants, and the engine does not list the tenant `unlisted`. */
const OWN = many(300, null)
let tasks = [...OWN, task('a', 'acme'), task('g', 'globex')]
/** Tasks that are listed but did not exist yet when tasks were counted. */
let late: readonly object[] = []
const LINKS: Readonly<Record<string, readonly object[]>> = {
  bare: [],
  personal: [{ type: 'candidate', userId: 'anna' }],
}
const LINK = { type: 'candidate', groupId: 'editors', userId: null }
const REPORT = [
  { groupName: 'editors', taskCount: 32 },
  { groupName: null, taskCount: 5 },
]

const gateway = await openGateway(t, {
  records: ['grant mary TASK:* READ', 'grant nobody TASK:* READ'],
  settings: { limits: { scannedItems: 250 } },
  engine: ({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://engine')
    const ids = searchParams.get('tenantIdIn')?.split(',')
    const found = tasks.filter(({ tenantId }) =>
      searchParams.has('withoutTenantId')
        ? tenantId === null
        : ids === undefined || (tenantId !== null && ids.includes(tenantId)),
    )
    const answers: Readonly<Record<string, unknown>> = {
      '/task/report/candidate-group-count': REPORT,
      '/task/count': { count: found.length },
      '/task': [...found, ...late].slice(0, Number(searchParams.get('maxResults') ?? 1000)),
      '/tenant': ['acme', 'globex'].map((id) => ({ id })),
    }
    const path = pathname.slice(BASE.length)
    response.writeHead(200, { 'content-type': 'application/json' })
    const [, id] = /^\/task\/(\w+)\/identity-links$/.exec(path) ?? []
    response.end(JSON.stringify(id === undefined ? (answers[path] ?? null) : (LINKS[id] ?? [LINK])))
  },
})

async function countsFor(user: string) {
  const { status, headers, body } = await gateway.ask(user, 'GET /task/report/candidate-group-count')
  return status === 200 ? body : headers['x-gateway-error']
}

t.test(
  'tasks of other tenants are subtracted, even if there are more visible tasks than the limit',
  async (t) => {
    // Mary sees the task of the tenant acme.
    t.same(await countsFor('mary'), [{ groupName: 'editors', taskCount: 31 }, REPORT[1]])
    t.same(await countsFor('nobody'), [{ groupName: 'editors', taskCount: 30 }, REPORT[1]])
  },
)

t.test('a report without tasks of other tenants is returned unchanged', async (t) => {
  tasks = [...OWN]
  t.same(await countsFor('mary'), REPORT)
})

t.test('tasks of a tenant that the engine does not list are searched among all tasks', async (t) => {
  tasks = [task('u', 'unlisted'), task('a', 'acme')]
  t.same(await countsFor('mary'), [{ groupName: 'editors', taskCount: 31 }, REPORT[1]])
  tasks = [...OWN, task('u', 'unlisted')]
  t.equal(await countsFor('mary'), 'GW_ITEMS_NOT_EXACT')
})

t.test('a report with more than 200 tasks of other tenants is refused', async (t) => {
  tasks = many(200, 'globex')
  t.same(await countsFor('mary'), [REPORT[1]])
  tasks = many(201, 'globex')
  t.equal(await countsFor('mary'), 'GW_ITEMS_NOT_EXACT')
})

t.test(
  'a search among all tasks is refused beyond 250 tasks, or beyond 200 tasks of other tenants',
  async (t) => {
    tasks = [task('u', 'unlisted')]
    for (const [others, own, outcome] of [
      [199, 50, [REPORT[1]]],
      [199, 51, 'GW_ITEMS_NOT_EXACT'],
      [200, 0, 'GW_ITEMS_NOT_EXACT'],
    ] as const) {
      late = [...many(others, 'globex'), ...many(own, null)]
      t.same(await countsFor('mary'), outcome, `${others} and ${own}`)
    }
    late = []
  },
)

t.test('a task without links and a link to a user are counted under no group', async (t) => {
  tasks = [...OWN, task('bare', 'globex'), task('personal', 'globex')]
  t.same(await countsFor('mary'), [REPORT[0], { groupName: null, taskCount: 3 }])
})
