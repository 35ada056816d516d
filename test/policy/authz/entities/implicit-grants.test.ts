import t from 'tap'
import { identityBits } from '../../../../src/policy/authz/entities/implicit-grants.ts'
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
