import t from 'tap'
import {
  createImplicitGrants,
  identityBits,
  linkBitsOf,
} from '../../../../src/policy/authz/entities/implicit-grants.ts'
import { ALL_BITS, bitOf } from '../../../../src/operations/permissions.ts'

const anna = { userId: 'anna', groups: ['clerks'], tenants: ['acme'] }
const READ = bitOf('GROUP', 'READ')
const NONE = { user: 0, groups: 0 }

t.test('a user has all permissions on themselves and reads their own groups and tenants', (t) => {
  t.same(identityBits('USER', 'anna', anna), { user: ALL_BITS, groups: 0 })
  t.same(identityBits('GROUP', 'clerks', anna), { user: 0, groups: READ })
  t.same(identityBits('TENANT', 'acme', anna), { user: READ, groups: 0 })
  t.end()
})

t.test('a user has no implicit permission on others or on all', (t) => {
  for (const resource of ['USER', 'GROUP', 'TENANT', 'TASK'] as const)
    for (const id of [null, '*', 'other', 'constructor'])
      t.same(identityBits(resource, id, anna), NONE, `${resource} ${id}`)
  for (const [resource, id] of [
    ['USER', 'clerks'],
    ['GROUP', 'acme'],
    ['TENANT', 'anna'],
    ['TASK', 'anna'],
  ] as const)
    t.same(identityBits(resource, id, anna), NONE, `${resource} ${id}`)
  t.end()
})

const SETTINGS = { taskPermission: 'UPDATE', specificVariables: false } as const
const BITS = linkBitsOf(SETTINGS)

/** The history of an engine, with the open tasks of users and groups, and the log of one task. */
function historyOf(open: Readonly<Record<string, readonly string[]>>, log: readonly object[] = []) {
  const paths: string[] = []
  const read = async (path: string) => {
    paths.push(path)
    const [list = '', search] = path.split('?')
    const query = new URLSearchParams(search)
    const [first, max] = [Number(query.get('firstResult')), Number(query.get('maxResults'))]
    if (list === '/history/task') {
      if (query.get('unfinished') !== 'true') return t.fail('finished tasks are read')
      const who = query.get('taskInvolvedUser') ?? `@${query.get('taskInvolvedGroup')}`
      return (open[who] ?? [])
        .slice(first, first + max)
        .map((id) => ({ id, processDefinitionKey: id.startsWith('alone') ? null : 'work' }))
    }
    const isWanted = (entry: object) =>
      ['userId', 'groupId'].every((name) => !query.has(name) || Object(entry)[name] === query.get(name))
    return log.filter(isWanted).slice(0, max)
  }
  return { paths, open, grants: createImplicitGrants(read, SETTINGS) }
}

const idsTo = (count: number) => Array.from({ length: count }, (_, at) => `t${String(at).padStart(6, '0')}`)

t.test('the tasks of a caller are those that are open, whatever the log has of finished tasks', async (t) => {
  const { grants, paths } = historyOf({ anna: ['t1', 'alone'], '@clerks': ['t1', 't2'] })
  t.same(await grants.tasks(anna), {
    user: new Set(['t1', 'alone']),
    groups: new Set(['t1', 't2']),
    keys: new Map([
      ['t1', 'work'],
      ['t2', 'work'],
    ]),
    bits: BITS,
  })
  t.equal(paths.length, 2)
  t.notMatch(paths.join(), 'identity-link-log')
})

t.test('more tasks than one read has are read completely, also while tasks are completed', async (t) => {
  const ids = idsTo(12_000)
  const whole = historyOf({ anna: ids })
  t.equal((await whole.grants.tasks({ ...anna, groups: [] })).user.size, 12_000)
  const open = { anna: ids }
  const { grants, paths } = historyOf(open)
  const completed = grants.tasks({ ...anna, groups: [] })
  // The first read has begun, and the tasks after it move to the front.
  await Promise.resolve()
  open.anna = ids.slice(50)
  const { user } = await completed
  t.ok(
    ids.slice(50).every((id) => user.has(id)),
    'no task that stays open is lost',
  )
  t.equal(paths.length, 3)
})

t.test('more open tasks than the bound are refused', async (t) => {
  const { grants } = historyOf({ anna: idsTo(50_001) })
  await t.rejects(grants.tasks({ ...anna, groups: [] }), { code: 'GW_ROWS_NOT_EXACT' })
})

t.test('reads that have no task in common are refused', async (t) => {
  const open = { anna: idsTo(6000) }
  const { grants } = historyOf(open)
  const tasks = grants.tasks({ ...anna, groups: [] })
  await Promise.resolve()
  open.anna = open.anna.slice(200)
  await t.rejects(tasks, { code: 'GW_ROWS_NOT_EXACT' })
})

t.test('a link among very many of one task still grants', async (t) => {
  const log = [...idsTo(3000).map((userId) => ({ userId })), { groupId: 'clerks' }, { userId: 'anna' }]
  t.same(await historyOf({}, log).grants.on('t1', anna), { user: BITS, groups: BITS })
  t.same(await historyOf({}, log.slice(0, -1)).grants.on('t1', anna), { user: 0, groups: BITS })
  t.same(await historyOf({}, log.slice(0, -2)).grants.on('t1', anna), NONE)
})
