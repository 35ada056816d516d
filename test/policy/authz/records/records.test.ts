import t from 'tap'
import { resourceOfType, type AuthorizationRecord } from '../../../../src/operations/authorization-record.ts'
import { indexRecords, usesRevokes } from '../../../../src/policy/authz/records/records.ts'
import { isAuthorized } from '../../../../src/policy/authz/decision/decide.ts'
import { recordOf } from '../../../support/record-lines.ts'

const anna = { userId: 'anna', groups: ['clerks'], tenants: [] }
const grant: AuthorizationRecord = {
  type: 1,
  userId: 'anna',
  groupId: null,
  permissions: ['READ'],
  resourceType: 7,
  resourceId: 't1',
}

t.test('every resource type number of the engine has a name, and no other number has', async (t) => {
  t.equal(resourceOfType(0), 'APPLICATION')
  t.equal(resourceOfType(21), 'SYSTEM')
  t.equal(resourceOfType(22), null)
  t.equal(resourceOfType(-1), null)
})

t.test('an unknown permission name grants nothing and does not invalidate the record', async (t) => {
  const records = indexRecords([{ ...grant, permissions: ['FLY', 'READ'] }])
  t.equal(isAuthorized(records, anna, { resource: 'TASK', permission: 'READ', id: 't1' }), true)
})

t.test('a revocation on a resource type of a plugin turns the revoke mode on', async (t) => {
  const records = indexRecords([{ ...grant, type: 2, resourceType: 4711, permissions: ['FLY'] }])
  t.equal(usesRevokes(records, anna), true)
})

t.test('a record without a resource id applies to no id and not to *', async (t) => {
  for (const type of [0, 1] as const) {
    const records = indexRecords([{ ...grant, type, userId: type === 0 ? '*' : 'anna', resourceId: null }])
    for (const id of ['t1', 'null', '', '*', null])
      t.equal(
        isAuthorized(records, anna, { resource: 'TASK', permission: 'READ', id }),
        null,
        `${type} ${id}`,
      )
    t.same([records.named.users.size, records.named.global.size], [0, 0], 'nor does it name one')
  }
})

t.test('a revocation without a resource id revokes nothing but turns the revoke mode on', async (t) => {
  const revocation = { ...grant, type: 2, resourceId: null } as const
  const records = indexRecords([{ ...grant, resourceId: '*' }, revocation])
  t.equal(isAuthorized(records, anna, { resource: 'TASK', permission: 'READ', id: 't1' }), true)
  t.equal(usesRevokes(records, anna), true)
  const lacking = { ...grant, type: 0, userId: '*', permissions: ['CREATE'] } as const
  const all = { ...grant, type: 0, userId: '*', resourceId: '*' } as const
  const read = { resource: 'TASK', permission: 'READ', id: 't1' } as const
  t.equal(isAuthorized(indexRecords([lacking, all]), anna, read), true)
  t.equal(isAuthorized(indexRecords([lacking, all, revocation]), anna, read), false)
})

t.test('a decision looks up as many keys among 100,000 records as among ten', async (t) => {
  const count = (size: number) => {
    const records = indexRecords(many(size))
    const look = { ups: 0 }
    const rights = new Map([...records.rights].map(([type, byId]) => [type, counting(byId, look)]))
    const counted = { ...records, rights: counting(rights, look) }
    const caller = { userId: `user${size - 1}`, groups: ['clerks', 'nobody'], tenants: [] }
    t.equal(
      isAuthorized(counted, caller, { resource: 'TASK', permission: 'READ', id: `task${size - 1}` }),
      true,
    )
    t.equal(isAuthorized(counted, caller, { resource: 'TASK', permission: 'READ', id: 'other' }), null)
    return look.ups
  }
  t.equal(count(100_000), count(10))
})

function* many(size: number): Iterable<AuthorizationRecord> {
  for (let at = 0; at < size; at += 1) yield { ...grant, userId: `user${at}`, resourceId: `task${at}` }
}

function counting<K, V>(map: ReadonlyMap<K, V>, look: { ups: number }): ReadonlyMap<K, V> {
  return new Proxy(map, {
    get(target, member) {
      if (member !== 'get') throw new Error(`a decision used ${String(member)} of an index`)
      look.ups += 1
      return target.get.bind(target)
    },
  })
}

t.test('a second record for an id changes no other id with the same subject and rights', (t) => {
  const lines = ['grant anna TASK:t1 READ', 'grant anna TASK:t2 READ', 'grant @clerks TASK:t3 READ']
  const more = ['grant @clerks TASK:t1 UPDATE', 'revoke anna TASK:t1 READ', 'global * TASK:t3 UPDATE']
  const before = indexRecords(lines.map(recordOf)).rights.get(7)
  const { rights } = indexRecords([...lines, ...more].map(recordOf))
  const after = rights.get(7)
  t.strictSame(after?.get('t2'), before?.get('t2'))
  t.strictSame(after?.get('t1')?.users, new Map([['anna', { granted: 2, revoked: 2 }]]))
  t.strictSame(after?.get('t1')?.groups, new Map([['clerks', { granted: 4, revoked: 0 }]]))
  t.strictSame(after?.get('t3')?.groups, new Map([['clerks', { granted: 2, revoked: 0 }]]))
  t.equal(after?.get('t3')?.global?.granted, 4)
  t.end()
})

t.test('records of different types, rights and subjects do not share their subjects', (t) => {
  const lines = ['grant anna', 'grant @anna', 'revoke anna', 'global *', 'grant *', 'grant bob']
  const all = lines.flatMap((line) => [`${line} TASK:x READ`, `${line} TASK:x UPDATE`])
  const records = all.map((line, at) => ({ ...recordOf(line), resourceId: `t${at}` }))
  const together = indexRecords(records).rights.get(7)
  for (const record of records) {
    const alone = indexRecords([record]).rights.get(7)?.get(record.resourceId)
    t.strictSame(together?.get(record.resourceId), alone, record.resourceId)
  }
  t.end()
})

t.test('a record without a subject grants nothing, also not to a group without a name', (t) => {
  const empty = { type: 1, permissions: ['READ'], groupId: '', resourceType: 7, resourceId: 't1' } as const
  const { groupId, ...nobodys } = empty
  const records = indexRecords([empty, { ...nobodys, resourceId: 't2' }])
  const caller = { userId: 'anna', groups: [groupId], tenants: [] }
  const may = (id: string) => isAuthorized(records, caller, { resource: 'TASK', permission: 'READ', id })
  t.equal(may('t1'), true)
  t.equal(may('t2'), null)
  t.end()
})
