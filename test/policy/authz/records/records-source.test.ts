import t from 'tap'
import { tableOf } from '../../../../src/policy/authz/records/record-table.ts'
import { indexRecords, type RecordIndex } from '../../../../src/policy/authz/records/records.ts'
import type { AuthorizationRecord } from '../../../../src/operations/authorization-record.ts'
import { createFileRecords } from '../../../../src/policy/authz/records/records-source.ts'

const grant = (userId: string): AuthorizationRecord => ({
  type: 1,
  permissions: ['READ'],
  userId,
  resourceType: 7,
  resourceId: '*',
})

const indexOf = (list: readonly AuthorizationRecord[]): RecordIndex => indexRecords(list)

function open(list: readonly AuthorizationRecord[] | null) {
  const file = { index: list === null ? null : indexOf(list), looks: 0 }
  const records = createFileRecords({
    file: {
      current: () => (file.index === null ? null : { index: file.index, table: tableOf([]) }),
      look: async () => {
        file.looks += 1
      },
      state: () => ({ problem: null, ageMs: 0 }),
    },
    revokes: 'always',
  })
  return { file, records }
}

t.test('the records of a file are the same until the file has changed', (t) => {
  const { file, records } = open([grant('mary')])
  const before = records.current()
  t.equal(before.revokes, 'always')
  t.equal(records.current(), before)
  file.index = indexOf([grant('bob')])
  t.same([...records.current().named.users.keys()], ['bob'])
  t.not(records.current(), before)
  t.end()
})

t.test('without a file no permission is decided', (t) => {
  const { records } = open(null)
  t.throws(() => records.current(), { code: 'GW_RECORDS_UNAVAILABLE', retryAfterSeconds: 1 })
  t.end()
})

t.test('a refresh reads the file', async (t) => {
  const { file, records } = open([])
  await records.refresh()
  t.equal(file.looks, 1)
})
