import t from 'tap'
import { BASE, openGateway } from '../support/open-gateway.ts'

const task = (id: string, tenantId: string | null) => ({ id, tenantId })
/** Of no tenant, and of three, the last of which the engine does not list. */
const OWN = Array.from({ length: 30 }, (_, at) => task(`n${at}`, null))
let tasks = [...OWN, task('a', 'acme'), task('g', 'globex')]
const LINKS = [{ type: 'candidate', groupId: 'editors', userId: null }]
const REPORT = [
  { groupName: 'editors', taskCount: 32 },
  { groupName: null, taskCount: 5 },
]

const gateway = await openGateway(t, {
  records: ['grant mary TASK:* READ', 'grant nobody TASK:* READ'],
  settings: { limits: { filteredRows: 10 } },
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
      '/task': found.slice(0, Number(searchParams.get('maxResults') ?? found.length)),
      '/tenant': ['acme', 'globex'].map((id) => ({ id })),
    }
    const path = pathname.slice(BASE.length)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(path.endsWith('/identity-links') ? LINKS : (answers[path] ?? null)))
  },
})

async function countsFor(user: string) {
  const { status, headers, body } = await gateway.ask(user, 'GET /task/report/candidate-group-count')
  return status === 200 ? body : headers['x-gateway-error']
}

t.test('tasks of other tenants are taken off, however many others there are', async (t) => {
  // Of the tenant acme.
  t.same(await countsFor('mary'), [{ groupName: 'editors', taskCount: 31 }, REPORT[1]])
  t.same(await countsFor('nobody'), [{ groupName: 'editors', taskCount: 30 }, REPORT[1]])
})

t.test('where there are none, the report is answered as it is', async (t) => {
  tasks = [...OWN]
  t.same(await countsFor('mary'), REPORT)
})

t.test('tasks of a tenant that the engine does not list are looked for among all', async (t) => {
  tasks = [task('u', 'unlisted'), task('a', 'acme')]
  t.same(await countsFor('mary'), [{ groupName: 'editors', taskCount: 31 }, REPORT[1]])
  tasks = [...OWN, task('u', 'unlisted')]
  t.equal(await countsFor('mary'), 'GW_ROWS_NOT_EXACT')
})
