import t from 'tap'
import type { Principal } from '../../../../src/request/principal.ts'
import type { PermissionCheck } from '../../../../src/policy/authz/decision/permission-check.ts'
import { isAuthorized, isGrantedTogether, stepOf } from '../../../../src/policy/authz/decision/decide.ts'
import { ALL_BITS } from '../../../../src/operations/permissions.ts'
import { keyOf, recordsOf } from '../../../support/record-lines.ts'

const anna: Principal = { userId: 'anna', groups: ['clerks', 'night'], tenants: [] }
const readTask: PermissionCheck = { resource: 'TASK', permission: 'READ', id: 't1' }

t.test('each of the twelve steps decides if no earlier step does', async (t) => {
  // Each line adds one record to the lines below it, and its step decides before theirs.
  const ladder = [
    'grant anna TASK:t1 READ',
    'revoke anna TASK:t1 READ',
    'grant anna TASK:* READ',
    'revoke anna TASK:* READ',
    'grant @clerks TASK:t1 READ',
    'revoke @clerks TASK:t1 READ',
    'grant @clerks TASK:* READ',
    'revoke @clerks TASK:* READ',
    'global * TASK:t1 READ',
    'global * TASK:t1 CREATE',
    'global * TASK:* READ',
    'global * TASK:* CREATE',
  ]
  for (const [above, line] of ladder.entries()) {
    // Only one GLOBAL record can exist for an id, with or without the permission.
    const below = ladder.slice(above).filter((other, at) => at === 0 || keyOf(other) !== keyOf(line))
    const records = recordsOf(below, { revokes: 'always' })
    t.equal(stepOf(records, anna, readTask), above + 1, `step ${above + 1}: ${line}`)
    t.equal(isAuthorized(records, anna, readTask), above % 2 === 0)
  }
  t.equal(isAuthorized(recordsOf([], { revokes: 'always' }), anna, readTask), null, 'no record, no answer')
})

t.test('without revoke mode only the granting steps are used', async (t) => {
  const lines = ['revoke anna TASK:t1 READ', 'revoke @clerks TASK:* READ', 'global * TASK:t1 CREATE']
  t.equal(isAuthorized(recordsOf(lines, { revokes: 'never' }), anna, readTask), null)
  const granted = [...lines, 'global * TASK:* READ']
  t.equal(stepOf(recordsOf(granted, { revokes: 'never' }), anna, readTask), 11)
})

t.test('a single permission is decided by type, subject and resource id of the records', async (t) => {
  const cases: readonly (readonly [claim: string, lines: readonly string[], answer: boolean | null])[] = [
    ['a grant on one id does not open another', ['grant anna TASK:t2 READ'], null],
    ['a grant of one permission is no grant of another', ['grant anna TASK:t1 UPDATE'], null],
    ['a grant on one resource says nothing about another', ['grant anna PROCESS_INSTANCE:t1 READ'], null],
    ['ALL holds every permission', ['grant anna TASK:t1 ALL'], true],
    ['NONE holds no permission', ['grant anna TASK:t1 NONE'], null],
    ['another user’s grant does not count', ['grant bob TASK:t1 READ'], null],
    ['a GRANT for the user * is no GLOBAL record', ['grant * TASK:t1 READ'], null],
    [
      'a REVOKE for the user * revokes nothing',
      ['revoke * TASK:t1 READ', 'grant @clerks TASK:t1 READ'],
      true,
    ],
    [
      'a revocation of ALL takes every permission',
      ['revoke anna TASK:t1 ALL', 'grant @clerks TASK:t1 READ'],
      false,
    ],
    [
      'a revocation of another permission is none',
      ['revoke anna TASK:t1 UPDATE', 'grant @clerks TASK:t1 READ'],
      true,
    ],
    ['the user’s * beats the group’s id', ['revoke anna TASK:* READ', 'grant @clerks TASK:t1 READ'], false],
    ['the id beats *', ['revoke anna TASK:* READ', 'grant anna TASK:t1 READ'], true],
    ['grant beats revoke on the same id', ['revoke anna TASK:t1 READ', 'grant anna TASK:t1 READ'], true],
    [
      'a grant in one group beats a revoke in another',
      ['revoke @clerks TASK:t1 READ', 'grant @night TASK:t1 READ'],
      true,
    ],
    [
      'a revoke on the id in one group beats a grant on * in another',
      ['grant @clerks TASK:* READ', 'revoke @night TASK:t1 READ'],
      false,
    ],
    ['a group the caller is not in does not count', ['grant @bosses TASK:t1 READ'], null],
    ['a GLOBAL record grants to everybody', ['global * TASK:* READ'], true],
    [
      'a group’s revocation beats a GLOBAL grant',
      ['revoke @clerks TASK:* READ', 'global * TASK:t1 READ'],
      false,
    ],
  ]
  for (const [claim, lines, answer] of cases) {
    t.equal(isAuthorized(recordsOf(lines), anna, readTask), answer, claim)
  }
})

t.test('a null id is a check of *, which records on a single id do not decide', async (t) => {
  const records = recordsOf(['grant anna TASK:t1 READ', 'revoke @clerks TASK:t2 READ'])
  for (const id of [null, '*']) t.equal(isAuthorized(records, anna, { ...readTask, id }), null)
  t.equal(isAuthorized(recordsOf(['grant anna TASK:* READ']), anna, { ...readTask, id: null }), true)
})

t.test('revoke mode auto is on only if a revocation names the caller, a group or *', async (t) => {
  const trap = ['global * TASK:* CREATE']
  t.equal(isAuthorized(recordsOf(trap), anna, readTask), null, 'is off while no revocation names the caller')
  const cases = [
    ['revoke anna USER:x READ', false, 'is on for any revocation of the user, on any resource'],
    ['revoke * USER:x READ', false, 'is on for a revocation of the user *'],
    ['revoke @night USER:x READ', false, 'is on for a revocation of one of the groups'],
    ['revoke bob USER:x READ', null, 'stays off for another user’s revocation'],
    ['revoke @bosses USER:x READ', null, 'stays off for a revocation of a group the caller is not in'],
  ] as const
  for (const [line, answer, claim] of cases) {
    t.equal(isAuthorized(recordsOf([...trap, line]), anna, readTask), answer, claim)
  }
})

t.test('implicit grants decide like records on the id', async (t) => {
  const implied = { user: 0, groups: 2 }
  t.equal(
    isAuthorized(recordsOf([]), anna, { ...readTask, implicitBits: implied }),
    true,
    'open like a record on the id',
  )
  const revoked = recordsOf(['revoke anna TASK:* READ'])
  t.equal(
    isAuthorized(revoked, anna, { ...readTask, implicitBits: implied }),
    false,
    'through a group lose to the user’s revocation',
  )
  const user = { ...readTask, implicitBits: { user: 6, groups: 0 } }
  t.equal(isAuthorized(revoked, anna, user), true, 'of the user beat the user’s revocation on *')
  t.equal(isAuthorized(revoked, anna, { ...user, permission: 'DELETE' }), null, 'hold only their own bits')
})

t.test('a GRANT for the same user or group replaces an implicit grant, except on a task', async (t) => {
  const user = { user: ALL_BITS, groups: 0 }
  const groups = { user: 0, groups: ALL_BITS }
  const cases = [
    ['FILTER', user, 'grant anna FILTER:x UPDATE', false, 'a grant for the owner of a filter'],
    ['FILTER', user, 'grant anna FILTER:x NONE', false, 'a grant without permissions'],
    ['FILTER', user, 'grant anna FILTER:x READ,UPDATE', true, 'a grant with the permission'],
    ['FILTER', user, 'grant anna FILTER:y UPDATE', true, 'on another filter'],
    ['FILTER', user, 'grant anna FILTER:* UPDATE', true, 'on all filters'],
    ['FILTER', user, 'grant @clerks FILTER:x UPDATE', true, 'for a group of the owner'],
    ['FILTER', user, 'grant bob FILTER:x UPDATE', true, 'for another user'],
    ['FILTER', user, 'revoke anna FILTER:x READ', true, 'a revocation'],
    ['USER', user, 'grant anna USER:x UPDATE', false, 'a grant for the user themselves'],
    ['GROUP', groups, 'grant @x GROUP:x UPDATE', false, 'a grant for the group on itself'],
    ['GROUP', groups, 'grant @clerks GROUP:x UPDATE', true, 'a grant for another group'],
    ['TASK', user, 'grant anna TASK:x UPDATE', true, 'a grant for the assignee of a task'],
  ] as const
  for (const [resource, implicitBits, line, answer, claim] of cases) {
    const check: PermissionCheck = { resource, permission: 'READ', id: 'x', implicitBits }
    t.equal(isAuthorized(recordsOf([line]), anna, check) === true, answer, `${resource}: ${claim}`)
  }
})

t.test('a permission that the resource does not have is never granted', async (t) => {
  const check: PermissionCheck = { resource: 'TASK', permission: 'CREATE_INSTANCE', id: 't1' }
  t.equal(isAuthorized(recordsOf(['grant anna TASK:t1 ALL', 'global * TASK:* ALL']), anna, check), null)
})

t.test('a permission of several bits is granted by one record that has all of them', async (t) => {
  const all = { ...readTask, permission: 'ALL' }
  t.equal(isAuthorized(recordsOf(['grant anna TASK:t1 READ,UPDATE']), anna, all), null)
  t.equal(isAuthorized(recordsOf(['grant anna TASK:t1 ALL']), anna, all), true)
})

t.test('a permission without bits is granted by any granting record, and by no other', async (t) => {
  const none = { ...readTask, permission: 'NONE' }
  t.equal(isAuthorized(recordsOf(['grant anna TASK:t1 READ']), anna, none), true)
  t.equal(isAuthorized(recordsOf(['revoke anna TASK:t1 READ'], { revokes: 'never' }), anna, none), null)
})

t.test('permissions are granted together only by one record, on the id or on *', async (t) => {
  const cases: readonly (readonly [claim: string, lines: readonly string[], answer: boolean])[] = [
    ['one record', ['grant anna TASK:t1 READ,UPDATE'], true],
    ['one on all', ['grant @clerks TASK:* READ,UPDATE'], true],
    ['a GLOBAL one', ['global * TASK:t1 READ,UPDATE'], true],
    ['ALL', ['grant anna TASK:t1 ALL'], true],
    ['two of one user', ['grant anna TASK:t1 READ', 'grant anna TASK:* UPDATE'], false],
    ['a user’s and a group’s', ['grant anna TASK:t1 READ', 'grant @clerks TASK:t1 UPDATE'], false],
    ['two groups’', ['grant @night TASK:t1 READ', 'grant @clerks TASK:t1 UPDATE'], false],
    ['another id', ['grant anna TASK:t2 READ,UPDATE'], false],
    ['another user', ['grant bob TASK:t1 READ,UPDATE'], false],
    ['none', [], false],
  ]
  for (const [claim, lines, answer] of cases) {
    const both = [readTask, { ...readTask, permission: 'UPDATE' }]
    t.equal(isGrantedTogether(recordsOf(lines, { revokes: 'never' }), anna, both), answer, claim)
  }
  const records = recordsOf(['grant anna TASK:t1 READ'], { disabledPermissions: ['UPDATE'] })
  t.equal(isGrantedTogether(records, anna, [readTask, { ...readTask, permission: 'UPDATE' }]), true)
})
