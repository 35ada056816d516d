import t, { type Test } from 'tap'
import { type Admin, createAdmin, idOf, rowsOf, textOf } from '../differential/admin.ts'
import { openGateway } from '../differential/gateway.ts'
import { type Answer, type Ask, basicOf, createClient, jsonOf } from '../differential/http.ts'
import { PASSWORD } from '../differential/sets.ts'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'

const TESTED_FAMILIES = ['camunda-7.24.0', 'operaton'] as const
type TestedFamily = (typeof TESTED_FAMILIES)[number]

/**
 * The users, with their groups in the source of the gateway and in the directory of the bare engine. The secured engine has the groups
 * of the source.
 */
const USERS: Readonly<
  Record<string, { readonly source: readonly string[]; readonly bare: readonly string[] }>
> = {
  inFiles: { source: ['g1', 'g2'], bare: [] },
  inEngine: { source: [], bare: ['g1'] },
  both: { source: ['g1', 'g2'], bare: ['g1', 'g2'] },
  elsewhere: { source: ['g1'], bare: ['g2', 'g3'] },
}
/** The callers, and the candidate users of their queries. */
const PAIRS = [
  ['inFiles', 'inFiles'],
  ['inEngine', 'inEngine'],
  ['elsewhere', 'elsewhere'],
  ['reader', 'both'],
  ['manager', 'inFiles'],
] as const
/** The permissions of the users on tasks: all tasks, or only those of which they are candidates. */
const READ_TASKS = [{ resourceType: 7, resourceId: '*', permissions: ['READ'] }]
const READ_FILTERS = { resourceType: 5, resourceId: '*', permissions: ['READ'] }
const READ_GROUPS = { resourceType: 2, resourceId: '*', permissions: ['READ'] }
/** Callers who are no candidates. */
const CALLERS: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  reader: READ_TASKS,
  manager: [...READ_TASKS, READ_GROUPS],
  nobody: [],
}
/**
 * The callers of filters that name the caller, with the number of requests for each filter: users of each kind, and callers without
 * groups who see all tasks, or none.
 */
const NAMED_CALLERS: Readonly<Record<TestedFamily, readonly (readonly [string, number])[]>> = {
  'camunda-7.24.0': [
    ['inFiles', 12],
    ['both', 2],
    ['inEngine', 2],
    ['elsewhere', 2],
    ['reader', 2],
    ['nobody', 1],
  ],
  operaton: [['inFiles', 3]],
}

/** Pairs whose queries may be refused: the engine knows a group that does not count for the caller. */
const NOT_EXACT = /^(?:inEngine|elsewhere|reader), /

interface TaskSeed {
  readonly assignee?: string
  readonly owner?: string
  readonly links: readonly Readonly<Record<string, string>>[]
}

/** Tasks of each user: direct, by groups, by both, owned, assigned, and with another kind of link. */
function tasksOf(user: string): readonly TaskSeed[] {
  const direct = { userId: user, type: 'candidate' }
  return [
    { links: [direct] },
    { links: [direct, { groupId: 'g1', type: 'candidate' }] },
    { links: [direct], assignee: 'somebody' },
    {
      links: [
        { userId: user, type: 'watcher' },
        { groupId: 'g2', type: 'candidate' },
      ],
    },
    { links: [{ groupId: 'g3', type: 'candidate' }], owner: user },
    { links: [direct], owner: user },
    { links: [{ groupId: 'g2', type: 'candidate' }], assignee: user },
  ]
}

const TASKS: readonly TaskSeed[] = [
  ...Object.keys(USERS).flatMap(tasksOf),
  ...['g1', 'g2', 'g3'].map((groupId) => ({ links: [{ groupId, type: 'candidate' }] })),
  { links: ['g1', 'g2', 'g3'].map((groupId) => ({ groupId, type: 'candidate' })) },
  { links: [] },
]

async function createTasks(admin: Admin): Promise<void> {
  for (const [index, { links, ...task }] of TASKS.entries()) {
    const id = `task${index}`
    await admin.call('POST', '/task/create', { id, name: id, priority: index % 3, ...task })
    for (const link of links) await admin.call('POST', `/task/${id}/identity-links`, link)
  }
}

/** Creates the users and groups. */
async function createUsers(admin: Admin, place: 'source' | 'bare'): Promise<void> {
  for (const id of ['g1', 'g2', 'g3'])
    await admin.call('POST', '/group/create', { id, name: id, type: 'WORKFLOW' })
  for (const [user, groups] of Object.entries(USERS)) {
    if (place === 'bare' && groups.bare.length === 0) continue
    await createUser(admin, user)
    for (const group of groups[place]) await admin.call('PUT', `/group/${group}/members/${user}`)
  }
}

async function createUser(admin: Admin, id: string): Promise<void> {
  const profile = { id, firstName: id, lastName: id, email: `${id}@test.example` }
  await admin.call('POST', '/user/create', { profile, credentials: { password: PASSWORD } })
}

/** Task queries with a candidate user. */
function queriesOf(candidateUser: string): readonly Readonly<Record<string, unknown>>[] {
  const mine = { candidateUser }
  return [
    mine,
    { ...mine, includeAssignedTasks: true },
    { ...mine, includeAssignedTasks: false, minPriority: 1 },
    { ...mine, candidateGroupLike: 'g3%' },
    { ...mine, withCandidateGroups: true },
    { ...mine, withoutCandidateUsers: true, includeAssignedTasks: true },
    { ...mine, involvedUser: candidateUser },
    { ...mine, owner: candidateUser },
    { orQueries: [mine] },
    { orQueries: [{ ...mine, includeAssignedTasks: true, name: 'task0' }] },
    { orQueries: [{ ...mine, candidateGroups: ['g3'] }] },
    { ...mine, orQueries: [{ candidateGroup: 'g2' }] },
    { ...mine, orQueries: [{ candidateUser: 'both' }] },
    { ...mine, orQueries: [{ minPriority: 2, nameLike: '%1%' }] },
    { ...mine, candidateGroup: 'g1' },
    { ...mine, candidateGroups: ['g1'] },
  ]
}

const USER = '${currentUser()}'
const GROUPS = '${ currentUserGroups() }'

/** Stored queries that name the caller, alone and with other conditions. */
const NAMING_QUERIES: readonly Readonly<Record<string, unknown>>[] = [
  { assigneeExpression: USER },
  { assigneeLikeExpression: USER, minPriority: 1 },
  { ownerExpression: USER, createdBeforeExpression: '${now()}' },
  { ownerExpression: USER, dueAfterExpression: '${dateTime().plusDays(1)}' },
  { candidateGroupsExpression: GROUPS },
  { candidateGroupsExpression: GROUPS, candidateGroup: 'g1' },
  { candidateGroupsExpression: GROUPS, candidateGroups: ['g3'], includeAssignedTasks: true },
  { candidateUserExpression: USER },
  { candidateUserExpression: USER, includeAssignedTasks: true },
  { candidateUserExpression: USER, candidateGroupLike: 'g2%' },
  { candidateGroupExpression: USER },
  { involvedUserExpression: USER, followUpBeforeOrNotExistentExpression: '${now()}' },
  { assigneeExpression: USER, assignee: 'somebody' },
  { processInstanceBusinessKeyExpression: USER },
  { processInstanceBusinessKeyLikeExpression: USER, assigneeExpression: USER },
  { orQueries: [{ assigneeExpression: USER, candidateGroupsExpression: GROUPS }] },
  { orQueries: [{ ownerExpression: USER, dueDateExpression: '${now()}' }, { minPriority: 1 }] },
  { ownerExpression: USER, taskVariables: [{ name: 'n', operator: 'eq', value: 1 }] },
]

/** The requests for a filter that names the caller. */
function namingAsksOf(id: string): readonly Ask[] {
  const list = `/filter/${id}/list`
  const descending = { sorting: [{ sortBy: 'name', sortOrder: 'desc' }] }
  return [
    { method: 'GET', path: list },
    { method: 'GET', path: `/filter/${id}?itemCount=true` },
    { method: 'POST', path: `${list}?maxResults=3`, body: { minPriority: 1, ...descending } },
    { method: 'GET', path: `${list}?firstResult=1&maxResults=2` },
    { method: 'POST', path: list, body: { assignee: 'somebody', withTaskVariablesInReturn: true } },
    { method: 'POST', path: list, body: { orQueries: [{ ownerExpression: USER, minPriority: 2 }] } },
    { method: 'POST', path: list, body: { ownerExpression: USER } },
    { method: 'POST', path: list, body: { candidateGroup: 'g2' } },
    { method: 'GET', path: `/filter/${id}/count` },
    { method: 'POST', path: `/filter/${id}/count`, body: { nameLike: '%1%', ...descending } },
    { method: 'GET', path: `/filter/${id}/singleResult` },
    { method: 'POST', path: `/filter/${id}/singleResult`, body: { name: 'task3' } },
  ]
}

const SORTED = { sorting: [{ sortBy: 'name', sortOrder: 'asc' }] }

/** The requests for one candidate user. `filters` has the ids of filters, in the order of the queries. */
function asksOf(user: string, filters: readonly string[]): readonly Ask[] {
  const queries = queriesOf(user)
  const asks: Ask[] = queries.flatMap((query, index): Ask[] => [
    { method: 'POST', path: '/task', body: { ...query, ...SORTED } },
    ...(index < 2 ? inQueryString(query) : []),
    ...(index % 3 === 0 ? [{ method: 'POST', path: '/task/count', body: query } as const] : []),
  ])
  for (const id of filters)
    asks.push(
      { method: 'GET', path: `/filter/${id}/list` },
      { method: 'POST', path: `/filter/${id}/list?maxResults=3`, body: { minPriority: 1, ...SORTED } },
      { method: 'GET', path: `/filter/${id}/count` },
      { method: 'POST', path: `/filter/${id}/count`, body: { orQueries: [{ nameLike: '%1%' }] } },
      { method: 'GET', path: `/filter/${id}/singleResult` },
      { method: 'POST', path: `/filter/${id}/singleResult`, body: { name: 'task0' } },
      { method: 'GET', path: `/filter/${id}?itemCount=true` },
    )
  return asks
}

function inQueryString(query: Readonly<Record<string, unknown>>): Ask[] {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return [
    { method: 'GET', path: `/task?${text}&sortBy=name&sortOrder=asc` },
    { method: 'GET', path: `/task/count?${text}` },
  ]
}

/** Returns what both sides must have in common: the status, and the tasks or the number of them. */
function resultOf(answer: Answer): unknown {
  const body = answer.type.includes('json') ? jsonOf(answer) : null
  if (Array.isArray(body))
    return {
      status: answer.status,
      tasks: rowsOf(body)
        .map((row) => textOf(row, 'id'))
        .sort((one, other) => one.localeCompare(other)),
    }
  if (answer.status !== 200) return { status: answer.status, message: textOf(body, 'message') }
  const { count, itemCount, id } = Object(body)
  return { status: 200, count, itemCount, task: itemCount === undefined ? id : undefined }
}

/**
 * Returns what both sides must have in common for a filter that names the caller: also the order and all members of the tasks. The
 * message of a contradiction names the expression, or the member that has its value.
 */
function namedResultOf(answer: Answer): unknown {
  if (answer.status === 500) return { status: answer.status }
  const body = answer.type.includes('json') ? jsonOf(answer) : null
  if (!Array.isArray(body)) return resultOf(answer)
  return {
    status: answer.status,
    tasks: rowsOf(body).map((task) => ({ ...task, created: null, lastUpdated: null })),
  }
}

async function createNamingFilters(admin: Admin): Promise<readonly string[]> {
  const ids: string[] = []
  for (const [index, query] of NAMING_QUERIES.entries()) {
    const filter = { resourceType: 'Task', name: `naming${index}`, query: { ...query, ...SORTED } }
    ids.push(idOf(await admin.call('POST', '/filter/create', { ...filter, properties: {} })))
  }
  return ids
}

async function createFilters(admin: Admin): Promise<Readonly<Record<string, readonly string[]>>> {
  const filters: Record<string, string[]> = {}
  for (const user of Object.keys(USERS)) {
    const ids: string[] = []
    for (const query of queriesOf(user).filter(isStored))
      ids.push(
        idOf(
          await admin.call('POST', '/filter/create', {
            resourceType: 'Task',
            name: user,
            query,
            properties: {},
          }),
        ),
      )
    filters[user] = ids
  }
  return filters
}

/** Returns whether a filter stores a query: some of those of which an engine shows all conditions. */
function isStored(query: Readonly<Record<string, unknown>>): boolean {
  return /^candidateUser(?:,(?:includeAssignedTasks|orQueries))?$|^orQueries$/.test(Object.keys(query).join())
}

for (const family of TESTED_FAMILIES) {
  void t.test(
    `${family}: candidate users select the tasks of the groups of the gateway`,
    { skip: javaSkip },
    (t) => compare(t, family),
  )
}

interface Comparison {
  readonly caller: string
  readonly name: string
  /** The request to the secured engine, and the request to the gateway: filters have other ids there. */
  readonly asks: readonly [Ask, Ask]
  readonly partsOf: (answer: Answer) => unknown
}

type Pair<Value> = readonly [Value, Value]

/** Returns the requests that are compared. `filters` and `naming` have the ids of the filters at both sides. */
function comparisonsOf(
  family: TestedFamily,
  filters: Pair<Readonly<Record<string, readonly string[]>>>,
  naming: Pair<readonly string[]>,
): readonly Comparison[] {
  const pairs = ([ones, others]: Pair<readonly Ask[]>) =>
    ones.map((one, index): Pair<Ask> => [one, others[index] ?? one])
  return [
    ...NAMED_CALLERS[family].flatMap(([caller, asked]) =>
      NAMING_QUERIES.flatMap((query, at) =>
        pairs([namingAsksOf(naming[0][at] ?? ''), namingAsksOf(naming[1][at] ?? '')])
          .slice(0, asked)
          .map((asks) => {
            return { caller, name: JSON.stringify(query), asks, partsOf: namedResultOf }
          }),
      ),
    ),
    ...PAIRS.flatMap(([caller, user]) =>
      pairs([asksOf(user, filters[0][user] ?? []), asksOf(user, filters[1][user] ?? [])]).map((asks) => {
        return { caller, name: user, asks, partsOf: resultOf }
      }),
    ),
  ]
}

async function compare(t: Test, family: TestedFamily): Promise<void> {
  const jvm = ['-Xmx400m']
  const bare = await startEngine({ family, jvm })
  t.teardown(() => bare.stop())
  const secured = await startEngine({ family, secured: true, jvm })
  t.teardown(() => secured.stop())
  const connect = (base: string) => {
    const client = createClient(base)
    t.teardown(() => client.close())
    return client
  }
  const atSecured = connect(secured.base)
  const [atEngine, atBare] = [createAdmin(atSecured), createAdmin(connect(bare.base))]
  await createUsers(atEngine, 'source')
  await createUsers(atBare, 'bare')
  const grants = { ...Object.fromEntries(Object.keys(USERS).map((user) => [user, []])), ...CALLERS }
  for (const user of Object.keys(CALLERS)) await createUser(atEngine, user)
  for (const [userId, records] of Object.entries(grants))
    for (const record of [...records, READ_FILTERS])
      await atEngine.call('POST', '/authorization/create', { type: 1, userId, ...record })
  const records = rowsOf(await atEngine.call('GET', '/authorization'))
  const filters = [await createFilters(atEngine), await createFilters(atBare)] as const
  const naming = [await createNamingFilters(atEngine), await createNamingFilters(atBare)] as const
  for (const admin of [atEngine, atBare]) await createTasks(admin)
  const none = { group: '', ownGroups: [], links: [], records: [], plans: [], tenants: [] }
  const sets = Object.keys(grants).map((user, index) => {
    return { ...none, index, user, password: PASSWORD, joins: USERS[user]?.source ?? [] }
  })
  const gateway = await openGateway(bare.base, { sets, records, implied: true, adminGroup: 'camunda-admin' })
  t.teardown(() => gateway.close())
  const atGateway = connect(gateway.base)
  const refused: string[] = []
  let compared = 0
  for (const { caller, name, asks, partsOf } of comparisonsOf(family, filters, naming)) {
    const expected = await atSecured.send(asks[0], basicOf(caller, PASSWORD))
    const answer = await atGateway.send(asks[1], basicOf(caller, PASSWORD))
    const told = `${caller}, ${name}: ${JSON.stringify(asks[0])}`
    compared += 1
    if (answer.code === 'GW_ITEMS_NOT_EXACT') refused.push(told)
    else t.same(partsOf(answer), partsOf(expected), told)
  }
  t.comment(`${compared} requests, ${refused.length} refused`)
  t.same(
    refused.filter((text) => !NOT_EXACT.test(text)),
    [],
    'what users of files ask about themselves is never refused',
  )
}
