import t from 'tap'
import { decidingRecord } from '../../src/explain/deciding-record.ts'
import type { AuthorizationRecord } from '../../src/operations/authorization-record.ts'
import { indexRecords } from '../../src/policy/authz/records/records.ts'

const anna = { userId: 'anna', groups: ['clerks', 'night'], tenants: [] }
const readTask = { resource: 'TASK', permission: 'READ', id: 't1' } as const
const task = (rest: Partial<AuthorizationRecord>): AuthorizationRecord => ({
  type: 1,
  permissions: ['READ'],
  resourceType: 7,
  resourceId: 't1',
  ...rest,
})

t.test('the deciding record is named by type, subject and resource id', async (t) => {
  const cases: readonly (readonly [AuthorizationRecord[], object | null])[] = [
    [[], null],
    [
      [task({ userId: 'anna' })],
      { step: 1, permitted: true, level: 'user', subject: 'anna', type: 1, resourceId: 't1', implied: false },
    ],
    [
      [task({ userId: 'anna', type: 2, resourceId: '*' })],
      { step: 4, permitted: false, level: 'user', subject: 'anna', type: 2, resourceId: '*' },
    ],
    [
      [task({ groupId: 'night', resourceId: '*' })],
      {
        step: 7,
        permitted: true,
        level: 'group',
        subject: 'night',
        type: 1,
        resourceId: '*',
        implied: false,
      },
    ],
    [
      [task({ groupId: 'night', type: 2 }), task({ groupId: 'clerks', resourceId: '*' })],
      { step: 6, permitted: false, subject: 'night', type: 2, resourceId: 't1' },
    ],
    [
      [task({ groupId: 'night', type: 2, resourceId: '*' })],
      { step: 8, permitted: false, level: 'group', subject: 'night', type: 2, resourceId: '*' },
    ],
    [
      [task({ type: 0, userId: '*' })],
      { step: 9, permitted: true, level: 'global', subject: '*', type: 0, resourceId: 't1', implied: false },
    ],
    [
      [
        task({ type: 0, userId: '*', resourceId: '*', permissions: [] }),
        task({ userId: 'anna', type: 2, resourceId: 'x' }),
      ],
      { step: 12, permitted: false, level: 'global', type: 0, resourceId: '*' },
    ],
  ]
  for (const [list, deciding] of cases) {
    const found = decidingRecord(indexRecords(list), anna, readTask)
    if (deciding === null) t.equal(found, null)
    else t.match(found, deciding)
  }
})

t.test('an implicit grant is distinguished from a record', async (t) => {
  const none = indexRecords([])
  t.match(decidingRecord(none, anna, { ...readTask, implicitBits: { user: 2, groups: 0 } }), {
    step: 1,
    implied: true,
    subject: 'anna',
  })
  t.match(decidingRecord(none, anna, { ...readTask, implicitBits: { user: 0, groups: 2 } }), {
    step: 5,
    implied: true,
    level: 'group',
  })
})
