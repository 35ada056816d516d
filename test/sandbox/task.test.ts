import t from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { exchange } from '../engine/exchange.ts'
import { idsOf } from './asks.ts'

const sandbox = await startSandbox()
t.teardown(() => sandbox.close())
const { base } = sandbox
const all = await idsOf(base, '/task')
const mary = await idsOf(base, '/task?assignee=mary')
const tenant = await idsOf(base, '/task?tenantIdIn=acme')

const queries: readonly (readonly [claim: string, query: unknown, count: number])[] = [
  ['an empty query finds every task', {}, all.length],
  ['a process definition key narrows', { processDefinitionKey: 'review' }, 3],
  ['a list of keys narrows', { processDefinitionKeyIn: ['review', 'moving'] }, 7],
  ['a list of ids narrows', { taskIdIn: mary }, 1],
  ['an unknown id finds nothing', { taskIdIn: ['-'] }, 0],
  ['an empty list is ignored, as in the engine', { taskIdIn: [] }, all.length],
  ['an unknown member is ignored, as in the engine', { noSuchMember: 1 }, all.length],
  ['null and false are ignored', { assignee: null, unassigned: false }, all.length],
  ['an assignee narrows', { assignee: 'mary' }, 1],
  ['a candidate group finds tasks that nobody has', { candidateGroup: 'accounting' }, 3],
  [
    'and the others too when the query includes them',
    { candidateGroup: 'accounting', includeAssignedTasks: true },
    4,
  ],
  ['one of several candidate groups is enough', { candidateGroups: ['nobody', 'management'] }, 3],
  ['a candidate user has no group in the sandbox', { candidateUser: 'peter' }, 0],
  [
    'a candidate user or a candidate group of an or-block is enough',
    { orQueries: [{ candidateUser: 'peter', candidateGroups: ['management'] }] },
    3,
  ],
  ['a tenant narrows', { tenantIdIn: ['acme'] }, 1],
  ['without a tenant leaves that one out', { withoutTenantId: true }, all.length - 1],
  ['a business key narrows', { processInstanceBusinessKey: 'order-2' }, 1],
  [
    'in an or-block one member is enough',
    { orQueries: [{ taskIdIn: mary, processDefinitionKeyIn: ['moving'] }] },
    5,
  ],
  [
    'or-blocks narrow one another',
    { orQueries: [{ taskIdIn: mary }, { processDefinitionKey: 'moving' }] },
    0,
  ],
  ['an or-block narrows the rest of the query', { assignee: 'mary', orQueries: [{ taskIdIn: tenant }] }, 0],
  ['an or-block without members does not narrow', { orQueries: [{}] }, all.length],
]

for (const [claim, query, count] of queries) {
  void t.test(claim, async (t) => {
    const list = await exchange(base, { method: 'POST', path: '/task', body: query })
    t.match(list.body, { length: count })
    const counted = await exchange(base, { method: 'POST', path: '/task/count', body: query })
    t.same(counted.body, { count })
  })
}

void t.test('a query string filters tasks as a body does', async (t) => {
  t.equal((await idsOf(base, '/task?processDefinitionKeyIn=review,moving')).length, 7)
  t.equal((await idsOf(base, '/task?candidateGroup=accounting&includeAssignedTasks=true')).length, 4)
  t.equal((await idsOf(base, '/task?unassigned=true&processDefinitionKey=review')).length, 2)
})

void t.test('a page starts at firstResult and has maxResults items', async (t) => {
  t.same(await idsOf(base, '/task?firstResult=2&maxResults=3'), all.slice(2, 5))
})

void t.test('responses about tasks have a Vary header where the engine sends one', async (t) => {
  for (const path of [`/task/${all[0]}`, '/task', '/task/report/candidate-group-count']) {
    const answer = await exchange(base, { method: 'GET', path })
    t.equal(answer.headers.get('vary'), 'Accept', path)
  }
  t.equal((await exchange(base, { method: 'GET', path: '/task/count' })).headers.get('vary'), null)
})

void t.test('the count by candidate group excludes assigned tasks', async (t) => {
  const answer = await exchange(base, { method: 'GET', path: '/task/report/candidate-group-count' })
  t.same(answer.body, [
    { groupName: null, taskCount: 1 },
    { groupName: 'accounting', taskCount: 3 },
    { groupName: 'management', taskCount: 3 },
  ])
})

void t.test('an update of a task is stored, and omitted members become null', async (t) => {
  const { base: own, close } = await startSandbox()
  t.teardown(close)
  const path = `/task/${(await idsOf(own, '/task?candidateGroup=accounting'))[0]}`
  await exchange(own, {
    method: 'PUT',
    path,
    body: { assignee: 'peter', due: '2031-05-02T08:00:00.000+0000' },
  })
  const { body } = await exchange(own, { method: 'GET', path })
  t.match(body, { assignee: 'peter', due: '2031-05-02T08:00:00.000+0000', name: null, priority: 0 })
  t.match(body, { taskState: 'Updated', lastUpdated: String })
})
