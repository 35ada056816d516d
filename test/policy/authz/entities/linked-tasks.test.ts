import t from 'tap'
import { linkedTasks } from '../../../../src/policy/authz/entities/linked-tasks.ts'

interface EngineGiven {
  /** The ids of open tasks with a present link, by user, or by `@group`. */
  present?: Readonly<Record<string, readonly string[]>>
  /** Tasks of links that were removed. */
  removed?: Readonly<Record<string, readonly string[]>>
  /** Tasks of all links in the history, also of completed tasks. Default: as many as are needed. */
  logged?: number
  /** Links of groups with another type than candidate. */
  others?: number
  /** Open tasks without a present link. */
  open?: readonly string[]
}

/** An engine with these links. `paths` has the requests. */
function engineOf(given: EngineGiven) {
  const paths: string[] = []
  const read = async (path: string, body?: unknown) => {
    paths.push(path)
    const [list = '', search] = path.split('?')
    const query = new URLSearchParams(search)
    if (body === undefined) return (LISTS[list] ?? (() => null))(linksOf(given, query), query, given)
    const { taskIdIn } = Object(body)
    const all = [...(given.open ?? []), ...Object.values(given.present ?? {}).flat()]
    return all.filter((id) => taskIdIn.includes(id)).map(taskOf)
  }
  return { paths, read }
}

interface Links {
  readonly present: readonly string[]
  readonly removed: readonly string[]
}

function linksOf({ present = {}, removed = {} }: EngineGiven, query: URLSearchParams): Links {
  const user = ['userId', 'involvedUser', 'taskInvolvedUser'].find((name) => query.has(name))
  const group = ['groupId', 'candidateGroup', 'taskInvolvedGroup'].find((name) => query.has(name))
  const owner = user === undefined ? `@${query.get(group ?? '')}` : (query.get(user) ?? '')
  return { present: present[owner] ?? [], removed: removed[owner] ?? [] }
}

const LISTS: Readonly<Record<string, (links: Links, query: URLSearchParams, given: EngineGiven) => unknown>> =
  {
    '/history/identity-link-log/count': ({ present, removed }, query, { logged, others = 0 }) => ({
      count: (logged ?? present.length + removed.length) - (query.has('type') ? others : 0),
    }),
    '/history/identity-link-log': ({ removed }, query) =>
      pageOf(removed, query).map((taskId) => ({ taskId })),
    '/history/task': ({ present }, query, { open = [] }) =>
      pageOf([...present, ...open], query).map(historicTaskOf),
    '/task': ({ present }, query) => pageOf(present, query).map(taskOf),
  }

function pageOf(items: readonly string[], query: URLSearchParams): readonly string[] {
  const first = Number(query.get('firstResult'))
  return items.slice(first, first + Number(query.get('maxResults')))
}

const taskOf = (id: string) => ({ id, processDefinitionId: id.startsWith('alone') ? null : `work:3:${id}` })
const historicTaskOf = (id: string) => ({ id, processDefinitionKey: id.startsWith('alone') ? null : 'work' })
const idsTo = (count: number) => Array.from({ length: count }, (_, at) => `t${String(at).padStart(6, '0')}`)
const ANNA = { userId: 'anna' }
const CLERKS = { groupId: 'clerks' }

t.test('present links are read from the tasks, and removed ones from the history', async (t) => {
  const { read, paths } = engineOf({
    present: { anna: ['t1', 'alone'] },
    removed: { anna: ['t2', 'finished', 't1'] },
    open: ['t2', 'other'],
  })
  t.same(
    await linkedTasks(read, ANNA),
    new Map([
      ['t2', 'work'],
      ['t1', 'work'],
      ['alone', null],
    ]),
  )
  t.notMatch(paths.join(), '/history/task')
})

t.test('links of finished tasks cost one count', async (t) => {
  const { read, paths } = engineOf({ logged: 1_000_000 })
  t.same(await linkedTasks(read, ANNA), new Map())
  t.same(paths, [
    '/history/identity-link-log/count?userId=anna',
    '/history/identity-link-log?userId=anna&operationType=delete&maxResults=5001',
    '/task?involvedUser=anna&firstResult=0&maxResults=5000',
  ])
})

t.test('without a link in the history, nothing else is read', async (t) => {
  const { read, paths } = engineOf({ present: { anna: ['t1'] }, logged: 0 })
  t.same(await linkedTasks(read, ANNA), new Map())
  t.equal(paths.length, 1)
  t.same(await linkedTasks(async () => null, ANNA), new Map(), 'an engine without this history')
})

t.test('tasks of a group are those with a candidate, also if they are assigned', async (t) => {
  const { read, paths } = engineOf({
    present: { '@clerks': ['t1'] },
    removed: { '@clerks': ['t2'] },
    open: ['t2'],
  })
  t.same([...(await linkedTasks(read, CLERKS)).keys()], ['t2', 't1'])
  t.ok(paths.includes('/task?candidateGroup=clerks&includeAssignedTasks=true&firstResult=0&maxResults=5000'))
})

t.test(
  'if a group has links of another type, or very many links were removed, the history is asked for open tasks',
  async (t) => {
    const typed = engineOf({ present: { '@clerks': ['t1'] }, open: ['t2'], others: 1 })
    t.same([...(await linkedTasks(typed.read, CLERKS)).keys()], ['t1', 't2'])
    t.ok(
      typed.paths.some((path) => path.startsWith('/history/task?taskInvolvedGroup=clerks&unfinished=true')),
    )
    const many = engineOf({ present: { anna: ['t1', 'alone'] }, removed: { anna: idsTo(5001) } })
    t.same(
      [...(await linkedTasks(many.read, ANNA))],
      [
        ['t1', 'work'],
        ['alone', null],
      ],
    )
    t.ok(many.paths.some((path) => path.startsWith('/history/task?taskInvolvedUser=anna&unfinished=true')))
  },
)

t.test('removed links are compared with the open tasks in lists that a database accepts', async (t) => {
  const removed = idsTo(1200)
  const { read, paths } = engineOf({ removed: { anna: removed }, open: removed })
  t.equal((await linkedTasks(read, ANNA)).size, 1200)
  t.equal(paths.filter((path) => path === '/task').length, 3)
})

t.test('more tasks than one read has are read completely, also while tasks are completed', async (t) => {
  const ids = idsTo(12_000)
  const given = { present: { anna: ids } }
  const { read } = engineOf(given)
  t.equal((await linkedTasks(read, ANNA)).size, 12_000)
  let reads = 0
  const completed = await linkedTasks(async (path, body) => {
    if (path.startsWith('/task?')) reads += 1
    // After the first read, the tasks after it move to the front.
    if (reads === 2) given.present.anna = ids.slice(50)
    return read(path, body)
  }, ANNA)
  t.ok(
    ids.slice(50).every((id) => completed.has(id)),
    'no task that stays open is lost',
  )
  t.equal(reads, 3)
})

t.test('more open tasks than the bound, and reads that have no task in common, are refused', async (t) => {
  const many = engineOf({ present: { anna: idsTo(50_001) } })
  await t.rejects(linkedTasks(many.read, ANNA), { code: 'GW_ITEMS_NOT_EXACT' })
  const given = { present: { anna: idsTo(6000) } }
  const { read } = engineOf(given)
  let reads = 0
  const apart = linkedTasks(async (path, body) => {
    if (path.startsWith('/task?') && (reads += 1) === 2) given.present.anna = given.present.anna.slice(200)
    return read(path, body)
  }, ANNA)
  await t.rejects(apart, { code: 'GW_ITEMS_NOT_EXACT' })
})

t.test('a key is taken only from an id that has the form of a definition', async (t) => {
  const ids = { t1: 'work:12:5f', t2: '5f0c-11ee', t3: 'work:a:b', t4: null }
  const read = async (path: string) => {
    if (path.includes('/count')) return { count: 4 }
    if (path.startsWith('/history')) return []
    return Object.entries(ids).map(([id, processDefinitionId]) => ({ id, processDefinitionId }))
  }
  t.same([...(await linkedTasks(read, ANNA)).values()], ['work', null, null, null])
})

t.test('a response that is no count is refused', async (t) => {
  await t.rejects(
    linkedTasks(async () => ({}), ANNA),
    { code: 'GW_UPSTREAM_INVALID' },
  )
})
