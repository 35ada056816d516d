import t from 'tap'
import {
  replaces,
  Shift,
  type ShiftOptions,
  type ShiftShares,
  type ShiftState,
} from '../../../src/proxy/nodes/shift.ts'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'

const READ = { method: 'GET', path: '/task', headers: {}, body: null, retry: 'always' } as const
const FAILED = { operation: undefined, caller: 'ann', isFailed: true, readMs: null }
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

/** Changes the shares, as a command does. */
function change(shift: Shift, shares: ShiftShares): void {
  shift.apply({ shares, returned: null, revision: shift.state.revision + 1 })
}

function requestOf(path: string, more: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return { ...READ, path, ...more }
}

t.test('reads and writes have shares of their own', (t) => {
  const shift = shiftOf({ reads: 1, writes: 0 })
  t.equal(shift.groupOf(requestOf('/task')), 'new')
  t.equal(shift.groupOf(requestOf('/task/1/claim', { method: 'POST', retry: 'unsent' })), 'old')
  change(shift, { reads: 0, writes: 1 })
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
  const shift = shiftOf({ reads: 1, writes: 1, onReturn: ({ reason }) => reasons.push(reason) })
  for (let at = 0; at < 4; at += 1) shift.record('new', FAILED)
  t.equal(shift.returned, null)
  for (let at = 0; at < 5; at += 1) shift.record('new', FAILED)
  t.same([shift.shares, shift.returned, reasons], [{ reads: 0, writes: 0 }, 'errors', ['errors']])
  change(shift, { reads: 0.5, writes: 0 })
  t.same([shift.shares, shift.returned], [{ reads: 0.5, writes: 0 }, null])
  shift.record('new', FAILED)
  t.equal(shift.returned, null)
  t.end()
})

t.test('requests return if too many differences are found while the group has a share', (t) => {
  const reasons: string[] = []
  const shift = shiftOf({ reads: 0, onReturn: ({ reason }) => reasons.push(reason) })
  for (let count = 0; count < 5; count += 1) shift.recordDifference()
  t.same([shift.returned, reasons], [null, []], 'without a share there is nothing to return')
  change(shift, { reads: 0, writes: 0.1 })
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

t.test('changed shares of the same groups continue under the next configuration', (t) => {
  const before = shiftOf({ reads: 1 })
  for (let at = 0; at < 20; at += 1) before.record('new', FAILED)
  const after = shiftOf({ reads: 0.5, former: before })
  t.same(after.state, { shares: { reads: 0, writes: 0 }, returned: 'errors', revision: 1 })
  t.equal(after.isUnstored, true)
  const unchanged = shiftOf({ reads: 0.5, former: shiftOf({ reads: 1 }) })
  t.same(unchanged.state, { shares: { reads: 0.5, writes: 0 }, returned: null, revision: 0 })
  const other = shiftOf({ reads: 0.5, to: 'newer', former: before })
  t.same(other.state, { shares: { reads: 0.5, writes: 0 }, returned: null, revision: 0 })
  t.end()
})

t.test('the same shares with a higher revision do not begin again', (t) => {
  let changes = 0
  const shift = shiftOf({ reads: 1 })
  shift.listen(() => (changes += 1))
  for (let at = 0; at < 20; at += 1) shift.record('new', FAILED)
  const { finding, state } = shift
  shift.apply({ ...state, revision: 9 })
  t.same([shift.finding, shift.state.revision, changes], [finding, 9, 1])
  t.end()
})

/** Returns a state with a share of the reads. */
function stateOf(reads: number, revision: number): ShiftState {
  return { shares: { reads, writes: 0 }, returned: null, revision }
}

t.test('the higher revision replaces the other state, and of two with the same one, zero does', (t) => {
  for (const [one, other, expected] of [
    [stateOf(0.5, 2), stateOf(0, 1), true],
    [stateOf(0, 1), stateOf(0.5, 2), false],
    [stateOf(0, 1), stateOf(0.5, 1), true],
    [stateOf(0.5, 1), stateOf(0, 1), false],
    [stateOf(0.5, 1), stateOf(0.25, 1), false],
    [stateOf(0, 1), stateOf(0, 1), false],
  ] as const)
    t.equal(replaces(one, other), expected, JSON.stringify([one, other]))
  t.end()
})

t.test(
  'a group without a usable node returns its requests after half a second and five requests',
  async (t) => {
    const clock = { nowMs: 0 }
    const findings: unknown[] = []
    const shift = shiftOf(
      { reads: 1, onReturn: (finding) => findings.push(finding) },
      undefined,
      () => clock.nowMs,
    )
    shift.recordUsable(true)
    const rerouteAt = (nowMs: number): unknown => {
      clock.nowMs = nowMs
      shift.recordUsable(false)
      return shift.returned
    }
    t.same([100, 200, 300, 400].map(rerouteAt), [null, null, null, null])
    shift.recordUsable(true)
    t.same(
      [500, 600, 1000].map(rerouteAt),
      [null, null, null],
      'the outage begins again, and has three requests',
    )
    t.same([1001, 1002].map(rerouteAt), [null, 'down'])
    t.same(findings, [{ reason: 'down', rerouted: 5, sinceMs: 502 }])
    t.same(shift.finding, findings[0])
  },
)

t.test('a group that had no usable node before the shares changed has not failed', async (t) => {
  const clock = { nowMs: 0 }
  const shift = shiftOf({ reads: 1 }, undefined, () => clock.nowMs)
  shift.recordUsable(true)
  change(shift, { reads: 0.5, writes: 0 })
  for (; clock.nowMs < 60_000; clock.nowMs += 100) shift.recordUsable(false)
  t.equal(shift.returned, null)
  shift.recordUsable(true)
  for (; clock.nowMs < 62_000; clock.nowMs += 100) shift.recordUsable(false)
  t.equal(shift.returned, 'down')
})

t.test('without limits, a group without a usable node keeps its shares', async (t) => {
  const clock = { nowMs: 0 }
  const shift = shiftOf({ reads: 1, limits: null }, undefined, () => clock.nowMs)
  shift.recordUsable(true)
  for (; clock.nowMs < 60_000; clock.nowMs += 100) shift.recordUsable(false)
  t.equal(shift.returned, null)
})
