import t from 'tap'
import { isLater, Shift, type ShiftOptions, type ShiftState } from '../../../src/proxy/nodes/shift.ts'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'

const READ = { method: 'GET', path: '/task', headers: {}, body: null, retry: 'always' } as const
const FAILED = { operation: undefined, isFailed: true, readMs: null }
const LIMITS = { errors: 0.05, slower: 5, differences: 1 }

function shiftOf(options: Partial<ShiftOptions>, random = () => 0.5, now = () => 0): Shift {
  return new Shift(
    {
      to: 'new',
      from: 'old',
      reads: 0,
      writes: 0,
      operations: null,
      callers: null,
      limits: LIMITS,
      onReturn: () => undefined,
      ...options,
    },
    { random, now },
  )
}

function requestOf(path: string, more: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return { ...READ, path, ...more }
}

t.test('reads and writes have shares of their own', (t) => {
  const shift = shiftOf({ reads: 1, writes: 0 })
  t.equal(shift.groupOf(requestOf('/task')), 'new')
  t.equal(shift.groupOf(requestOf('/task/1/claim', { method: 'POST', retry: 'unsent' })), 'old')
  shift.change({ reads: 0, writes: 1 })
  t.equal(shift.groupOf(requestOf('/task')), 'old')
  t.equal(shift.groupOf(requestOf('/task/1/claim', { method: 'POST', retry: 'unsent' })), 'new')
  t.end()
})

t.test('all requests about one entity go to one group, and entities are distributed by the share', (t) => {
  const shift = shiftOf({ reads: 0.25 })
  const ids = Array.from({ length: 4000 }, (_, at) => `${at.toString(16)}c0-11ee`)
  const groups = ids.map((id) => shift.groupOf(requestOf(`/task/${id}`)))
  const share = groups.filter((group) => group === 'new').length / ids.length
  t.ok(Math.abs(share - 0.25) < 0.03, `${share}`)
  for (const [at, id] of ids.slice(0, 200).entries())
    for (const path of [`/task/${id}/form?x=1`, `/history/task/${id}`, `/task/${id}?a=b`])
      t.equal(shift.groupOf(requestOf(path)), groups[at], path)
  t.end()
})

t.test('a request that names no entity goes to a random group', (t) => {
  for (const path of [
    '/task',
    '/task?name=a1',
    '/task/count',
    '/history/process-instance/count',
    '/user/mary',
  ]) {
    t.equal(shiftOf({ reads: 0.3 }, () => 0.29).groupOf(requestOf(path)), 'new', path)
    t.equal(shiftOf({ reads: 0.3 }, () => 0.3).groupOf(requestOf(path)), 'old', path)
  }
  t.end()
})

t.test('a definition keeps its group by its key', (t) => {
  const shift = shiftOf({ reads: 0.5 })
  for (const key of ['review', 'invoice', 'order']) {
    const group = shift.groupOf(requestOf(`/process-definition/key/${key}`))
    t.equal(shift.groupOf(requestOf(`/process-definition/key/${key}/xml`)), group, key)
  }
  t.end()
})

t.test('only the listed operations and users are shifted', (t) => {
  const ofOperation = shiftOf({ reads: 1, operations: ['getTasks'] })
  t.equal(ofOperation.groupOf(requestOf('/task', { operation: 'getTasks' })), 'new')
  t.equal(ofOperation.groupOf(requestOf('/user', { operation: 'getUsers' })), 'old')
  t.equal(ofOperation.groupOf(requestOf('/task')), 'old')
  const ofUser = shiftOf({ reads: 1, callers: ['mary'] })
  t.equal(ofUser.groupOf(requestOf('/task', { user: 'mary' })), 'new')
  t.equal(ofUser.groupOf(requestOf('/task', { user: 'ben' })), 'old')
  t.equal(ofUser.groupOf(requestOf('/task')), 'old')
  t.end()
})

t.test('requests return once if the group passes a limit, and a new share begins again', (t) => {
  const reasons: string[] = []
  const shift = shiftOf({ reads: 1, writes: 1, onReturn: (reason) => reasons.push(reason) })
  for (let at = 0; at < 19; at += 1) shift.record('new', FAILED)
  t.equal(shift.returned, null)
  for (let at = 0; at < 5; at += 1) shift.record('new', FAILED)
  t.same([shift.shares, shift.returned, reasons], [{ reads: 0, writes: 0 }, 'errors', ['errors']])
  shift.change({ reads: 0.5, writes: 0 })
  t.same([shift.shares, shift.returned], [{ reads: 0.5, writes: 0 }, null])
  shift.record('new', FAILED)
  t.equal(shift.returned, null)
  t.end()
})

t.test('requests return if too many differences are found while the group has a share', (t) => {
  const reasons: string[] = []
  const shift = shiftOf({ reads: 0, onReturn: (reason) => reasons.push(reason) })
  for (let count = 0; count < 5; count += 1) shift.recordDifference()
  t.same([shift.returned, reasons], [null, []], 'without a share there is nothing to return')
  shift.change({ reads: 0, writes: 0.1 })
  shift.recordDifference()
  t.equal(shift.returned, null)
  shift.recordDifference()
  t.same([shift.shares, shift.returned, reasons], [{ reads: 0, writes: 0 }, 'differences', ['differences']])
  t.end()
})

t.test('a node of no group is not counted', (t) => {
  const shift = shiftOf({ reads: 1 })
  for (let at = 0; at < 100; at += 1) shift.record(null, FAILED)
  t.equal(shift.returned, null)
  t.end()
})

t.test('a shift continues with the state that it had under the previous configuration', (t) => {
  const before = shiftOf({ reads: 1 })
  for (let at = 0; at < 20; at += 1) before.record('new', FAILED)
  const after = shiftOf({ reads: 1, state: before.state })
  t.same([after.shares, after.returned], [{ reads: 0, writes: 0 }, 'errors'])
  t.end()
})

t.test('of two different states, exactly one replaces the other', (t) => {
  const zero = { reads: 0, writes: 0 }
  const states = [zero, { reads: 0.5, writes: 0 }, { reads: 0, writes: 0.5 }].flatMap((shares) =>
    ([null, 'errors', 'latency'] as const).flatMap((returned) =>
      [
        [0, 0],
        [0, 5],
        [9, 0],
        [9, 5],
        [20, 9],
      ].map(([changedAtMs = 0, knownMs = 0]): ShiftState => ({ shares, returned, changedAtMs, knownMs })),
    ),
  )
  for (const one of states)
    for (const other of states)
      t.equal(isLater(one, other), one !== other && !isLater(other, one), JSON.stringify([one, other]))
  t.end()
})

t.test('a change replaces those that its process knew, then zero wins, then the later time', (t) => {
  const [zero, half] = [
    { reads: 0, writes: 0 },
    { reads: 0.5, writes: 0 },
  ]
  const stateOf = (shares: typeof zero, changedAtMs: number, knownMs = 0): ShiftState => ({
    shares,
    returned: null,
    changedAtMs,
    knownMs,
  })
  for (const [later, earlier] of [
    [stateOf(half, 10, 9), stateOf(zero, 9)],
    [stateOf(zero, 8), stateOf(half, 10, 7)],
    [stateOf(zero, 9), stateOf(half, 9)],
    [stateOf(half, 10), stateOf(half, 9, 8)],
    [stateOf(zero, 10), stateOf(zero, 9, 8)],
    [stateOf(half, 9, 8), stateOf(half, 9, 7)],
    [stateOf(half, 1), stateOf(zero, 0, 5)],
    [stateOf(half, 0, 10), stateOf(zero, 0, 9)],
  ] as const) {
    t.equal(isLater(later, earlier), true, JSON.stringify([later, earlier]))
    t.equal(isLater(earlier, later), false)
  }
  t.end()
})
