import t from 'tap'
import { GatewayError } from '../../../../src/errors.ts'
import type { EngineResponse, EngineRequest } from '../../../../src/request/engine-request.ts'
import {
  createEngineRecords,
  type EngineRecordsOptions,
} from '../../../../src/policy/authz/records/engine-records.ts'
import { createParser } from '../../../../src/parsing/parser.ts'
import type { AuthorizationRecord } from '../../../../src/operations/authorization-record.ts'
import { createFakeTime } from '../../../support/fake-time.ts'

const UNAVAILABLE = { code: 'GW_RECORDS_UNAVAILABLE', statusCode: 503 }

const grant = (userId: string): AuthorizationRecord => ({
  id: userId,
  type: 1,
  permissions: ['READ'],
  userId,
  groupId: null,
  resourceType: 7,
  resourceId: '*',
})

/** Waits until pending work is done. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

function open(options: Partial<EngineRecordsOptions> = {}) {
  const time = createFakeTime()
  const engine = {
    list: [grant('mary')] as unknown,
    status: 200,
    away: false,
    requests: [] as EngineRequest[],
  }
  const gates: (() => void)[] = []
  const hold = { on: false }
  const read: (string | null)[] = []
  const ask = async (request: EngineRequest): Promise<EngineResponse> => {
    engine.requests.push(request)
    // The response has the state at the time of the request.
    const { away, status } = engine
    const body = typeof engine.list === 'string' ? engine.list : JSON.stringify(engine.list)
    if (hold.on) await new Promise<void>((resolve) => gates.push(resolve))
    if (away) throw new GatewayError('GW_NO_NODE')
    return { status, body: Buffer.from(body) }
  }
  const parser = createParser()
  const records = createEngineRecords({
    ask,
    parse: parser.stored,
    refreshMs: 30_000,
    staleAfterMs: 300_000,
    onRead: (problem) => void read.push(problem),
    now: time.now,
    schedule: time.schedule,
    ...options,
  })
  t.teardown(() => records.close())
  t.teardown(() => parser.close())
  const users = () => [...records.current().named.users.keys()]
  return { time, engine, records, read, hold, gates, users }
}

t.test('before the first read no permission is decided', (t) => {
  const { records } = open()
  t.throws(() => records.current(), UNAVAILABLE)
  t.same(records.state(), { problem: 'not read yet', ageMs: null })
  t.end()
})

t.test('all records are read in one request without paging', async (t) => {
  const { records, engine, users } = open()
  await records.start()
  t.same(users(), ['mary'])
  t.match(engine.requests, [{ method: 'GET', path: '/authorization', limitBytes: 64 * 1024 ** 2 }])
  t.equal(engine.requests.length, 1)
})

t.test('the records are read again after the interval', async (t) => {
  const { records, engine, time, users } = open()
  await records.start()
  engine.list = [grant('bob')]
  time.advance(29_999)
  await settle()
  t.same(users(), ['mary'])
  time.advance(1)
  await settle()
  t.same(users(), ['bob'])
  t.equal(time.nextMs(), 30_000)
})

t.test('a refresh takes effect before it resolves, and the interval starts again', async (t) => {
  const { records, engine, time, users } = open()
  await records.start()
  time.advance(20_000)
  engine.list = []
  await records.refresh()
  t.same(users(), [])
  t.equal(time.nextMs(), 30_000)
})

t.test('refreshes during a read share one more read after it', async (t) => {
  const { records, engine, hold, gates, users } = open()
  hold.on = true
  const first = records.refresh()
  engine.list = [grant('bob')]
  const later = [records.refresh(), records.refresh(), records.refresh()]
  gates.shift()?.()
  await first
  t.same(users(), ['mary'], 'the first reading began before the change')
  await settle()
  gates.shift()?.()
  await Promise.all(later)
  t.same(users(), ['bob'])
  t.equal(engine.requests.length, 2, 'one for the three of them')
})

t.test('while the engine is unreachable, the last records are used until they are too old', async (t) => {
  const { records, engine, time, users, read } = open()
  await records.start()
  engine.away = true
  for (let elapsed = 0; elapsed < 300_000; elapsed += 1_000) {
    time.advance(1_000)
    await settle()
  }
  t.same(users(), ['mary'])
  t.match(records.state(), { problem: 'No node of the engine can be reached', ageMs: 300_000 })
  t.match(records.byId?.('mary'), { userId: 'mary' })
  t.same(records.locate(grant('mary')), { id: 'mary' })
  time.advance(1)
  t.throws(() => records.current(), UNAVAILABLE)
  t.same([records.byId?.('mary'), records.locate(grant('mary'))], [null, null])
  t.ok(read.length > 100, 'it is tried every two seconds')
  engine.away = false
  time.advance(2_000)
  await settle()
  t.same(users(), ['mary'])
  t.equal(records.state().problem, null)
})

t.test('the age of records is counted from the request, not from its response', async (t) => {
  const { records, hold, gates, time } = open()
  hold.on = true
  const reading = records.refresh()
  time.advance(9_000)
  gates.shift()?.()
  await reading
  t.equal(records.state().ageMs, 9_000)
})

t.test('a response that is not a complete list of records changes nothing', async (t) => {
  const cases: readonly (readonly [claim: string, list: unknown, status?: number])[] = [
    ['another status', [], 403],
    ['an error with a list', [], 500],
    ['no JSON', '[{'],
    ['an object', {}],
    ['a member that is no record', [grant('bob'), null]],
    ['an unknown type', [{ ...grant('bob'), type: 3 }]],
    ['permissions that are no list', [{ ...grant('bob'), permissions: 'ALL' }]],
    ['a permission that is no name', [{ ...grant('bob'), permissions: [2] }]],
    ['a resource id that is no name', [{ ...grant('bob'), resourceId: 5 }]],
    ['no resource id at all', [{ ...grant('bob'), resourceId: undefined }]],
    ['a user that is no name', [{ ...grant('bob'), userId: 5 }]],
  ]
  for (const [claim, list, status = 200] of cases) {
    const { records, engine, users } = open()
    await records.start()
    Object.assign(engine, { list, status })
    await records.refresh()
    t.same(users(), ['mary'], claim)
    t.match(records.state().problem, /^The engine(?:'s response| responded) to \/authorization /, claim)
  }
})

t.test('an unchanged response is not parsed again', async (t) => {
  const { records, engine } = open()
  await records.start()
  const before = records.current()
  await records.refresh()
  t.equal(records.current(), before)
  engine.list = [grant('mary'), grant('bob')]
  await records.refresh()
  t.not(records.current(), before)
})

t.test('unknown resources, permissions and members do not refuse the whole list', async (t) => {
  const { records, engine, users } = open()
  engine.list = [
    grant('mary'),
    { ...grant('bob'), resourceType: 99, permissions: ['FLY'], somethingNew: true },
  ]
  await records.start()
  t.same(users(), ['mary', 'bob'])
})

t.test('a record without a resource id grants nothing and hides no other record', async (t) => {
  const { records, engine, users } = open()
  engine.list = [{ ...grant('bob'), resourceId: null }, grant('mary')]
  await records.start()
  t.equal(records.state().problem, null)
  t.same(users(), ['mary'])
})

t.test('the number of partly understood records is reported when the list changes', async (t) => {
  const told: number[] = []
  const { records, engine } = open({ onPartlyRead: (count) => void told.push(count) })
  engine.list = [
    grant('mary'),
    { ...grant('bob'), resourceId: null },
    { ...grant('bob'), resourceType: 99, permissions: [] },
    { ...grant('bob'), permissions: ['READ', 'FLY'] },
    { ...grant('bob'), permissions: ['ALL'] },
  ]
  await records.start()
  await records.refresh()
  engine.list = []
  await records.refresh()
  t.same(told, [3, 0])
})

t.test('no records are read after close', async (t) => {
  const { records, engine, time } = open()
  await records.start()
  records.close()
  time.advance(600_000)
  await settle()
  await records.refresh()
  t.equal(engine.requests.length, 1)
})

t.test('a read that fails after close is not reported', async (t) => {
  const { records, engine, hold, gates, read } = open()
  await records.start()
  hold.on = true
  engine.status = 500
  const refreshed = records.refresh()
  records.close()
  while (gates.length === 0) await settle()
  gates.shift()?.()
  await refreshed
  t.same(read, [null])
})

t.test('a long response is compared and parsed as a whole', async (t) => {
  const { records, engine, users } = open()
  const long = Array.from({ length: 4_000 }, (_, at) => grant(`user ${at}`))
  engine.list = long
  await records.start()
  const before = records.current()
  t.equal(users().length, long.length)
  await records.refresh()
  t.equal(records.current(), before)
  engine.list = [...long.slice(1), grant('bob')]
  await records.refresh()
  t.same(users(), [...long.slice(1).map(({ userId }) => userId), 'bob'])
})
