import t from 'tap'
import type { StoredRecord } from '../../../../src/operations/authorization-record.ts'
import { locateRecord, recordById, tableOf } from '../../../../src/policy/authz/records/record-table.ts'

function recordsWith(count: number): readonly StoredRecord[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `r-${at}`,
    type: 1,
    userId: null,
    groupId: `group-${at % 7}`,
    resourceType: at % 2 === 0 ? 7 : 6,
    resourceId: `id-${at}`,
    permissions: at % 3 === 0 ? ['ALL'] : ['READ', 'UPDATE'],
  }))
}

t.test('a record is found by its id, with the names of its permissions', (t) => {
  const records = recordsWith(50)
  const table = tableOf(records)
  for (const record of records) {
    const { id: _, ...members } = record
    t.match(recordById(table, record.id ?? ''), members)
  }
  t.equal(recordById(table, 'id-7'), null, 'the id of a resource')
  t.equal(recordById(table, 'none'), null)
  t.end()
})

t.test('a record that says less here than in its engine is not shown', (t) => {
  const table = tableOf(
    recordsWith(1).flatMap((record) => [
      { ...record, permissions: ['READ', 'FLY'] },
      { ...record, id: 'a', resourceType: 99, permissions: [] },
      { ...record, id: 'b', resourceId: null },
    ]),
  )
  for (const id of ['r-0', 'a', 'b']) t.equal(recordById(table, id), null, id)
  t.end()
})

t.test('a record is located by type, subject and resource', (t) => {
  const records = recordsWith(50)
  const table = tableOf(records)
  for (const [position, record] of records.entries())
    t.same(locateRecord(table, record), { position, id: record.id })
  const [first] = records
  if (first === undefined) throw new Error('there is a record')
  for (const other of [
    { type: 2 },
    { groupId: 'group-1' },
    { userId: 'group-0', groupId: null },
    { resourceType: 6 },
    { resourceId: 'id-1' },
  ])
    t.equal(locateRecord(table, { ...first, ...other }), null)
  t.same(locateRecord(tableOf([{ ...first, id: null }]), first), { position: 0, id: null })
  t.end()
})

t.test('a record is not searched for in a list of more than 10,000 records', (t) => {
  const records = recordsWith(10_001)
  const [first] = records
  if (first === undefined) throw new Error('there is a record')
  t.same(locateRecord(tableOf(records.slice(0, 10_000)), first), { position: 0, id: 'r-0' })
  t.equal(locateRecord(tableOf(records), first), null)
  t.end()
})
