import t from 'tap'
import { isAuthorized } from '../../../../src/policy/authz/decision/decide.ts'
import type { Grant } from '../../../../src/policy/authz/records/grants.ts'
import {
  requirementsOf,
  recordsOfGrants,
  smallestGrants,
  withGrants,
} from '../../../../src/policy/authz/records/grants.ts'
import { recordsOf } from '../../../support/record-lines.ts'

const anna = { userId: 'anna', groups: ['clerks'], tenants: [] }
const readTask = (resourceId: string): Grant => ({ resource: 'TASK', permission: 'READ', resourceId })
const readTasksOf = (resourceId: string): Grant => ({
  resource: 'PROCESS_DEFINITION',
  permission: 'READ_TASK',
  resourceId,
})
const startOf = (resourceId: string): Grant => ({
  resource: 'PROCESS_DEFINITION',
  permission: 'CREATE_INSTANCE',
  resourceId,
})

t.test('the smallest set of grants meets every need', async (t) => {
  const cases: readonly (readonly [
    claim: string,
    needs: readonly (readonly Grant[])[],
    grants: readonly Grant[],
  ])[] = [
    ['nothing is needed: none', [], []],
    ['the only alternative is taken', [[readTask('t1')]], [readTask('t1')]],
    ['of equals the first', [[readTask('t1'), readTasksOf('review')]], [readTask('t1')]],
    [
      'what meets most needs goes first',
      [
        [readTask('t1'), readTasksOf('review')],
        [readTask('t2'), readTasksOf('review')],
      ],
      [readTasksOf('review')],
    ],
    [
      'what has no alternative may meet others as well',
      [[readTasksOf('review')], [readTask('t1'), readTasksOf('review')]],
      [readTasksOf('review')],
    ],
    [
      '* is not taken where an id would do',
      [[readTask('*'), readTasksOf('review')]],
      [readTasksOf('review')],
    ],
    [
      'of equals one that adds to a record that is needed in any case',
      [[startOf('review')], [readTask('t1'), readTasksOf('review')]],
      [startOf('review'), readTasksOf('review')],
    ],
    [
      'but not one on another id',
      [[startOf('payout')], [readTask('t1'), readTasksOf('review')]],
      [startOf('payout'), readTask('t1')],
    ],
    ['* that must be is enough for every id', [[readTask('t1')], [readTask('*')]], [readTask('*')]],
  ]
  for (const [claim, needs, grants] of cases)
    t.same(smallestGrants(needs.map((anyOf) => ({ anyOf }))), grants, claim)
})

t.test('the frequency of a need counts', async (t) => {
  const needs = [
    { anyOf: [readTask('t1'), readTasksOf('review')], weight: 1 },
    { anyOf: [readTask('t1')], weight: 1 },
    { anyOf: [readTask('t2'), readTasksOf('review')], weight: 9 },
    { anyOf: [readTask('t3'), readTasksOf('review')], weight: 1 },
  ]
  t.same(smallestGrants(needs), [readTask('t1'), readTasksOf('review')])
})

t.test('needs with one number are alternatives, and unknown resources are skipped', async (t) => {
  const lack = { permission: 'READ', resourceId: 't1', need: 0 }
  t.same(
    requirementsOf([
      { ...lack, resource: 'Task' },
      { ...lack, resource: 'ProcessDefinition', permission: 'READ_TASK', resourceId: 'review' },
      { ...lack, resource: 'Task', need: 1, resourceId: 't2' },
      { ...lack, resource: 'Tusk', need: 2 },
    ]),
    [{ anyOf: [readTask('t1'), readTasksOf('review')] }, { anyOf: [readTask('t2')] }],
  )
})

t.test('permissions on one id become one record', async (t) => {
  const grants = [readTask('t1'), { ...readTask('t1'), permission: 'UPDATE' }, readTask('t2')]
  t.same(recordsOfGrants(grants, { groupId: 'clerks' }), [
    { type: 1, groupId: 'clerks', resourceType: 7, resourceId: 't1', permissions: ['READ', 'UPDATE'] },
    { type: 1, groupId: 'clerks', resourceType: 7, resourceId: 't2', permissions: ['READ'] },
  ])
})

function about(permission: string) {
  return { resource: 'TASK', permission, id: 't1' } as const
}

t.test('added grants decide like records, and the existing records remain', async (t) => {
  const records = recordsOf([
    'grant anna TASK:t1 UPDATE',
    'revoke @clerks TASK:t1 READ',
    'grant bob TASK:* READ',
  ])
  const more = withGrants(records, 'anna', [readTask('t1')])
  t.equal(isAuthorized(records, anna, about('READ')), false)
  t.equal(isAuthorized(more, anna, about('READ')), true)
  t.equal(isAuthorized(more, anna, about('UPDATE')), true)
  t.equal(isAuthorized(more, { ...anna, userId: 'bob', groups: [] }, about('READ')), true)
})
