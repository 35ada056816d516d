import t from 'tap'
import {
  createDefaultRecords,
  type DefaultRecordResult,
} from '../../../../src/policy/authz/records/default-records.ts'
import type { EngineRequest } from '../../../../src/request/engine-request.ts'

const RECORD = {
  userId: 'amy',
  resource: 'DEPLOYMENT',
  resourceId: 'd1',
  permissions: ['READ', 'DELETE'],
} as const

/** Opens an engine that has these records. `statusOf` returns the status of a write. */
function openEngine(stored: readonly unknown[], statusOf: (method: string) => number = () => 200) {
  const sent: string[] = []
  const results: (readonly [DefaultRecordResult, string | null])[] = []
  const records = createDefaultRecords({
    ask: async ({ method, path, body }: EngineRequest) => {
      sent.push([method, path, ...(body === undefined ? [] : [JSON.stringify(body)])].join(' '))
      const status = method === 'GET' ? 200 : statusOf(method)
      return { status, body: Buffer.from(JSON.stringify(method === 'GET' ? stored : {})) }
    },
    onResult: (result, problem) => results.push([result, problem]),
  })
  return { records, sent, results }
}

t.test('a record is written once', async (t) => {
  const { records, sent, results } = openEngine([])
  await records.write(RECORD)
  t.same(sent, [
    'GET /authorization?resourceType=9&resourceId=d1&type=1&userIdIn=amy',
    'POST /authorization/create {"type":1,"userId":"amy","resourceType":9,"resourceId":"d1","permissions":["READ","DELETE"]}',
  ])
  t.same(results, [['written', null]])
})

t.test('a record that the engine has is not written again', async (t) => {
  const { records, sent, results } = openEngine([{ id: 'a1', userId: 'amy', resourceId: 'd1' }])
  await records.write(RECORD)
  t.equal(sent.length, 1)
  t.same(results, [['present', null]])
})

t.test('a record of another spelling of the user or of the id is another record', async (t) => {
  for (const other of [
    { id: 'a1', userId: 'AMY', resourceId: 'd1' },
    { id: 'a1', userId: 'amy', resourceId: 'D1' },
  ]) {
    const { records, results } = openEngine([other])
    await records.write(RECORD)
    t.same(results, [['written', null]])
  }
})

t.test('a failure is reported, and rejects nothing', async (t) => {
  const { records, results } = openEngine([], () => 500)
  await records.write(RECORD)
  t.same(results, [['failed', 'The engine responded to POST /authorization/create with status 500']])
})

t.test('the records on a deleted entity are removed, and those on other ids are not', async (t) => {
  const stored = [
    { id: 'a1', userId: 'amy', resourceId: 'd1' },
    { id: 'a2', groupId: 'clerks', resourceId: 'd1' },
    { id: 'a3', userId: 'amy', resourceId: 'D1' },
  ]
  const { records, sent, results } = openEngine(stored, () => 204)
  await records.remove(RECORD)
  t.same(sent.slice(1), ['DELETE /authorization/a1', 'DELETE /authorization/a2'])
  t.same(results, [
    ['removed', null],
    ['removed', null],
  ])
})

t.test('a record that is already removed is no failure, and another status is one', async (t) => {
  const stored = [{ id: 'a1', userId: 'amy', resourceId: 'd1' }]
  for (const [status, result] of [
    [404, 'removed'],
    [500, 'failed'],
  ] as const) {
    const { records, results } = openEngine(stored, () => status)
    await records.remove(RECORD)
    t.equal(results[0]?.[0], result, `status ${status}`)
  }
})
