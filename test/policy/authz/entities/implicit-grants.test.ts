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

/** Creates the grants of an engine whose log has these entries of one task, and these entries of owners with present links to tasks. */
function grantsOf(log: readonly object[], present: Readonly<Record<string, readonly string[]>> = {}) {
  const read = async (path: string) => {
    const [list = '', search] = path.split('?')
    const query = new URLSearchParams(search)
    if (list === '/task') {
      const owner = query.get('involvedUser') ?? `@${query.get('candidateGroup')}`
      return (
        present[owner]?.map((id) => ({ id, processDefinitionId: id === 'alone' ? null : 'work:1:x' })) ?? []
      )
    }
    if (list.endsWith('/count'))
      return { count: present[query.get('userId') ?? `@${query.get('groupId')}`]?.length ?? 0 }
    if (query.get('operationType') === 'delete') return []
    const isWanted = (entry: object) =>
      ['userId', 'groupId'].every((name) => !query.has(name) || Object(entry)[name] === query.get(name))
    return log.filter(isWanted).slice(0, Number(query.get('maxResults')))
  }
  return createImplicitGrants(read, SETTINGS)
}

const idsTo = (count: number) => Array.from({ length: count }, (_, at) => `t${String(at).padStart(6, '0')}`)

t.test('the tasks of a caller are those with links to the user or to one of the groups', async (t) => {
  t.same(
    await grantsOf([], { anna: ['t1', 'alone'], '@clerks': ['t1', 't2'], '@other': ['t3'] }).tasks(anna),
    {
      user: new Set(['t1', 'alone']),
      groups: new Set(['t1', 't2']),
      keys: new Map([
        ['t1', 'work'],
        ['t2', 'work'],
      ]),
      bits: BITS,
    },
  )
})

t.test('a link among very many of one task still grants', async (t) => {
  const log = [...idsTo(3000).map((userId) => ({ userId })), { groupId: 'clerks' }, { userId: 'anna' }]
  t.same(await grantsOf(log).on('t1', anna), { user: BITS, groups: BITS })
  t.same(await grantsOf(log.slice(0, -1)).on('t1', anna), { user: 0, groups: BITS })
  t.same(await grantsOf(log.slice(0, -2)).on('t1', anna), NONE)
})
