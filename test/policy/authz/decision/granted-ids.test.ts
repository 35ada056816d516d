import t from 'tap'
import { grantedIds, someNamedId } from '../../../../src/policy/authz/decision/granted-ids.ts'
import type { AuthorizationRecord } from '../../../../src/operations/authorization-record.ts'
import { indexRecords } from '../../../../src/policy/authz/records/records.ts'

const anna = { userId: 'anna', groups: ['clerks'], tenants: [] }
const READ = { resource: 'TASK', permission: 'READ' } as const
const on = (resourceId: string, rest: Partial<AuthorizationRecord>): AuthorizationRecord => ({
  type: 1,
  permissions: ['READ'],
  resourceType: 7,
  resourceId,
  ...rest,
})

t.test('ids come from records of the user, the groups and GLOBAL, each once', async (t) => {
  const records = indexRecords([
    on('a', { userId: 'anna' }),
    on('a', { groupId: 'clerks' }),
    on('b', { groupId: 'clerks' }),
    on('c', { type: 0, userId: '*' }),
    on('d', { userId: 'bob' }),
    on('e', { userId: 'anna', permissions: ['UPDATE'] }),
    on('f', { userId: 'anna', resourceType: 8 }),
  ])
  t.same(grantedIds(records, anna, READ), {
    any: null,
    ids: ['a', 'b', 'c'],
    revokedIds: [],
  })
})

t.test('a grant on * decides every id that is not listed', async (t) => {
  const records = indexRecords([
    on('*', { groupId: 'clerks' }),
    on('a', { type: 2, userId: 'anna' }),
    on('b', { userId: 'anna' }),
  ])
  t.same(grantedIds(records, anna, READ), { any: true, ids: ['b'], revokedIds: ['a'] })
})

t.test('an id granted to a group and revoked from the user is revoked', async (t) => {
  const records = indexRecords([on('a', { groupId: 'clerks' }), on('a', { type: 2, userId: 'anna' })])
  t.same(grantedIds(records, anna, READ), { any: null, ids: [], revokedIds: ['a'] })
})

t.test('a caller without records is granted nothing', async (t) => {
  t.same(grantedIds(indexRecords([]), anna, READ), { any: null, ids: [], revokedIds: [] })
})

t.test('a search for an id ends with the first one, and never tests *', async (t) => {
  const records = indexRecords([
    on('*', { groupId: 'clerks' }),
    on('a', { groupId: 'clerks' }),
    on('b', { groupId: 'clerks' }),
    on('c', { type: 0, userId: '*' }),
    on('d', { userId: 'bob' }),
  ])
  const tested: string[] = []
  const search = (found: string) =>
    someNamedId(records, anna, 7, (id) => {
      tested.push(id)
      return id === found
    })
  t.equal(search('b'), true)
  t.same(tested, ['a', 'b'])
  t.equal(search('d'), false)
  t.same(tested.slice(2), ['a', 'b', 'c'])
})
