import t from 'tap'
import { BASE, openGateway, type Seen } from '../../support/open-gateway.ts'

const LINKS: Readonly<Record<string, readonly object[]>> = {
  t1: [{ type: 'candidate', groupId: 'sales', userId: null }],
  t2: [
    { type: 'candidate', groupId: 'sales', userId: null },
    { type: 'candidate', groupId: 'board', userId: null },
  ],
  // The engine lists owner and assignee as links, but does not count them.
  t3: [
    { type: 'owner', groupId: null, userId: 'anna' },
    { type: 'assignee', groupId: null, userId: 'anna' },
    { type: 'candidate', groupId: 'board', userId: null },
  ],
  t4: [{ type: 'candidate', groupId: null, userId: 'anna' }],
}
const TASKS = [
  { id: 't1', tenantId: 'acme' },
  { id: 't2', tenantId: 'globex' },
  { id: 't3', tenantId: 'globex' },
  { id: 't4', tenantId: null },
]
const COUNTS = [
  { groupName: 'sales', taskCount: 2 },
  { groupName: 'board', taskCount: 2 },
  { groupName: null, taskCount: 1 },
]
const GROUPS = [
  { id: 'sales', name: 'Sales' },
  { id: 'board', name: 'Board' },
]
const USERS = [
  { id: 'ben', displayName: 'Ben' },
  { id: 'anna', displayName: 'Anna' },
  { id: 'carl', displayName: 'Carl' },
]
const MEMBERS: Readonly<Record<string, readonly object[]>> = {
  sales: [{ id: 'ben' }, { id: 'carl' }],
  board: [{ id: 'anna' }],
}

function answerTo({ url }: Seen): unknown {
  const { pathname, searchParams } = new URL(url.slice(BASE.length), 'http://engine')
  const [, task = ''] = /^\/task\/(\w+)\/identity-links$/.exec(pathname) ?? []
  if (task !== '') return LINKS[task]
  if (pathname === '/user') return MEMBERS[searchParams.get('memberOfGroup') ?? '']
  if (pathname === '/tenant') return [{ id: 'acme' }, { id: 'globex' }]
  if (pathname === '/identity/groups') return { groups: GROUPS, groupUsers: USERS }
  if (!/^\/task(\/count)?$/.test(pathname)) return COUNTS
  const ids = searchParams.get('tenantIdIn')?.split(',')
  const found = TASKS.filter(({ tenantId }) =>
    searchParams.has('withoutTenantId')
      ? tenantId === null
      : ids === undefined || (tenantId !== null && ids.includes(tenantId)),
  )
  return pathname === '/task' ? found : { count: found.length }
}

const { ask } = await openGateway(t, {
  records: [
    'grant mary TASK:* READ',
    'grant mary GROUP:sales READ',
    'grant mary USER:ben READ',
    'grant mary USER:anna READ',
    'grant ben GROUP:* READ',
    'grant ben USER:carl READ',
    'grant anna USER:* READ',
  ],
  engine: (request, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answerTo(request))),
})

const REPORT = 'GET /task/report/candidate-group-count'

t.test('tasks of other tenants are not counted for any group', async (t) => {
  const { status, body } = await ask('mary', REPORT)
  t.equal(status, 200)
  t.same(body, [
    { groupName: 'sales', taskCount: 1 },
    { groupName: null, taskCount: 1 },
  ])
  t.same((await ask('demo', REPORT)).body, COUNTS, 'whom tenants do not restrict gets all')
})

async function groupsOf(user: string): Promise<readonly unknown[]> {
  const { status, body } = await ask(user, 'GET /identity/groups?userId=mary')
  const { groups, groupUsers } = Object(body)
  return [status, groups, groupUsers]
}

t.test('lookups of the tasks to subtract accept only JSON, whatever the client accepts', async (t) => {
  const { forwarded } = await ask('mary', REPORT, { headers: { accept: 'application/json, */*' } })
  const looks = forwarded.slice(1)
  t.ok(looks.length > 0)
  for (const { url, headers } of looks) t.equal(headers.accept, 'application/json', url)
})

t.test('members are looked up for at most 200 groups', async (t) => {
  const groups = Array.from({ length: 202 }, (_, at) => ({ id: `g${at}`, name: 'Group' }))
  const grants = (user: string, count: number) =>
    groups.slice(0, count).map(({ id }) => `grant ${user} GROUP:${id} READ`)
  const { ask: askMany } = await openGateway(t, {
    records: [
      ...grants('mary', 200),
      ...grants('anna', 201),
      'grant mary USER:* READ',
      'grant anna USER:* READ',
    ],
    engine: ({ url }, response) => {
      const isMember = url.includes('memberOfGroup=g199')
      const users = isMember ? [{ id: 'ben' }] : []
      const body = url.includes('/identity/groups') ? { groups, groupUsers: USERS } : users
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    },
  })
  const { status, body } = await askMany('mary', 'GET /identity/groups?userId=mary')
  t.equal(status, 200)
  t.same(Object(body).groupUsers, USERS.slice(0, 1))
  const refused = await askMany('anna', 'GET /identity/groups?userId=anna')
  t.equal(refused.headers['x-gateway-error'], 'GW_ITEMS_NOT_EXACT')
  t.equal(refused.forwarded.length, 1, 'and none is asked for')
})

t.test('groups and their members are shown according to the permission on each of them', async (t) => {
  const [sales] = GROUPS
  const [ben, , carl] = USERS
  t.same(await groupsOf('mary'), [200, [sales], [ben]], 'no member of a group that is not shown')
  t.same(await groupsOf('ben'), [200, GROUPS, [ben, carl]], 'and himself')
  t.same(await groupsOf('nobody'), [200, [], []])
})
