import t from 'tap'
import type { Principal } from '../../../../src/request/principal.ts'
import type { PermissionCheck } from '../../../../src/policy/authz/decision/permission-check.ts'
import { decideAll, decideAny } from '../../../../src/policy/authz/decision/decide.ts'
import { recordsOf } from '../../../support/record-lines.ts'

const anna: Principal = { userId: 'anna', groups: ['clerks', 'night'], tenants: [] }
const readTask: PermissionCheck = { resource: 'TASK', permission: 'READ', id: 't1' }
const readTaskByKey: PermissionCheck = {
  resource: 'PROCESS_DEFINITION',
  permission: 'READ_TASK',
  id: 'review',
}

t.test('one of several checks is enough, unless an earlier check is denied', async (t) => {
  const checks = [readTask, readTaskByKey]
  const cases: readonly (readonly [claim: string, lines: readonly string[], permitted: boolean])[] = [
    ['nothing is granted: no', [], false],
    ['without revocations any grant opens', ['grant anna PROCESS_DEFINITION:review READ_TASK'], true],
    [
      'an early no kills a later grant',
      ['grant anna PROCESS_DEFINITION:review READ_TASK', 'revoke anna TASK:t1 READ'],
      false,
    ],
    [
      'an early grant survives a later no',
      ['grant anna TASK:t1 READ', 'revoke anna PROCESS_DEFINITION:review READ_TASK'],
      true,
    ],
    [
      'the GLOBAL trap: any revocation at all makes a GLOBAL record without the permission say no first',
      [
        'global * TASK:* CREATE',
        'grant anna PROCESS_DEFINITION:review READ_TASK',
        'revoke anna USER:x DELETE',
      ],
      false,
    ],
    [
      'the GLOBAL trap stays open without a revocation',
      ['global * TASK:* CREATE', 'grant anna PROCESS_DEFINITION:review READ_TASK'],
      true,
    ],
  ]
  for (const [claim, lines, permitted] of cases) {
    t.equal(decideAny(recordsOf(lines), anna, checks), permitted, claim)
  }
})

t.test('all of several checks are required, and no decision counts as denied', async (t) => {
  const checks: readonly PermissionCheck[] = ['a', 'b'].map((id) => ({
    resource: 'PROCESS_DEFINITION',
    permission: 'MIGRATE_INSTANCE',
    id,
  }))
  const both = ['grant anna PROCESS_DEFINITION:a MIGRATE_INSTANCE', 'grant anna PROCESS_DEFINITION:b ALL']
  t.equal(decideAll(recordsOf(both), anna, checks), true, 'both granted: yes')
  t.equal(decideAll(recordsOf(both.slice(1)), anna, checks), false, 'no answer counts as no')
  const revoked = [...both, 'revoke anna PROCESS_DEFINITION:* MIGRATE_INSTANCE']
  t.equal(decideAll(recordsOf(revoked), anna, checks), true, 'the id beats the revocation on *')
})

t.test('checks of disabled permissions are dropped, and a single one passes', async (t) => {
  const options = { disabledPermissions: ['READ'] }
  t.equal(decideAny(recordsOf([], options), anna, [readTask]), true, 'a lone disabled check passes')
  t.equal(decideAll(recordsOf([], options), anna, [readTask]), true, 'a lone disabled check passes, all of')
  t.equal(
    decideAny(recordsOf([], options), anna, [readTask, readTaskByKey]),
    false,
    'one of several is dropped',
  )
  const grants = ['grant anna PROCESS_DEFINITION:review READ_TASK', 'revoke anna TASK:t1 READ']
  t.equal(decideAny(recordsOf(grants, options), anna, [readTask, readTaskByKey]), true, 'so is its no')
  t.equal(decideAny(recordsOf([], options), anna, [readTask, readTask]), false, 'all disabled is refused')
  t.equal(
    decideAll(recordsOf([], options), anna, [readTask, readTask]),
    false,
    'all disabled is refused, all of',
  )
})
