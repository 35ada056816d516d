import t from 'tap'
import { recordsOf } from '../../src/files/records-file.ts'
import type { IdentifiedRecord } from '../../src/transfer/engine-content.ts'
import { exportRecords } from '../../src/transfer/exported-records.ts'

let lastId = 0
function stored(record: Partial<IdentifiedRecord>): IdentifiedRecord {
  lastId += 1
  return {
    id: String(lastId),
    type: 1,
    permissions: ['READ'],
    userId: 'mary',
    groupId: null,
    resourceType: 7,
    resourceId: '*',
    ...record,
  }
}

t.test('records have an order that depends only on their content', async (t) => {
  const records = [
    stored({ resourceType: 8 }),
    stored({ resourceId: 'b' }),
    stored({ userId: null, groupId: 'clerks' }),
    stored({ type: 2, permissions: ['UPDATE', 'READ'] }),
    stored({ type: 0, userId: '*' }),
    stored({ permissions: ['UPDATE', 'READ', 'READ'] }),
  ]
  const { text, omissions } = exportRecords(records)
  t.equal(
    text,
    `[
  {"type":0,"userId":"*","resourceType":7,"resourceId":"*","permissions":["READ"]},
  {"type":1,"userId":"mary","resourceType":7,"resourceId":"*","permissions":["READ","UPDATE"]},
  {"type":1,"groupId":"clerks","resourceType":7,"resourceId":"*","permissions":["READ"]},
  {"type":2,"userId":"mary","resourceType":7,"resourceId":"*","permissions":["READ","UPDATE"]},
  {"type":1,"userId":"mary","resourceType":7,"resourceId":"b","permissions":["READ"]},
  {"type":1,"userId":"mary","resourceType":8,"resourceId":"*","permissions":["READ"]}
]
`,
  )
  t.same(omissions, [])
  t.equal(exportRecords(records.toReversed()).text, text)
  t.equal(recordsOf(text).length, records.length)
})

t.test('an engine without records gives a file without records', async (t) => {
  t.equal(exportRecords([]).text, '[]\n')
})

t.test('each record and permission that a file cannot contain is reported', async (t) => {
  const { text, omissions, parsed } = exportRecords([
    stored({ resourceId: null }),
    stored({ resourceId: '' }),
    stored({ resourceType: 99 }),
    stored({ userId: null }),
    stored({ userId: 'a', groupId: 'b' }),
    stored({ userId: 'ben', permissions: ['READ', 'FLY'] }),
    stored({ userId: 'carl', removalTime: '2030-01-01T00:00:00.000+0000' }),
    stored({ userId: 'dora', permissions: ['READ'] }),
    stored({ userId: 'dora', permissions: ['UPDATE'] }),
  ])
  t.same(
    recordsOf(text).map(({ userId, permissions }) => [userId, permissions]),
    [
      ['ben', ['READ']],
      ['carl', ['READ']],
      ['dora', ['READ', 'UPDATE']],
    ],
  )
  t.equal(parsed(text), text)
  t.same(
    omissions.map(({ what, items }) => [what.split(':')[0], items]),
    [
      [
        'records without a user, group or resource id, or of an unknown resource type',
        [
          'grant group b TASK * READ',
          'grant user (none) TASK * READ',
          'grant user mary TASK  READ',
          'grant user mary TASK (no id) READ',
          'grant user mary resource type 99 * READ',
        ],
      ],
      ['permissions that the gateway does not know', ['FLY of grant user ben TASK * READ,FLY']],
      ['records with the same type, subject and resource', ['grant user dora TASK * UPDATE']],
      ['the time at which the engine removes a record', ['grant user carl TASK * READ']],
    ],
  )
})

t.test('a file that would be read in another way is noticed', async (t) => {
  const { text, parsed } = exportRecords([stored({})])
  t.equal(parsed(text), text)
  t.not(parsed(text.replace('READ', 'UPDATE')), text)
})
