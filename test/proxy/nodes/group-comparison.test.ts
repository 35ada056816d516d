import t from 'tap'
import { GroupComparison, type ReturnLimits } from '../../../src/proxy/nodes/group-comparison.ts'

const LIMITS: ReturnLimits = { errors: 0.1, slower: 3, differences: 2 }

function open(limits: ReturnLimits | null = LIMITS) {
  const clock = { nowMs: 0 }
  const comparison = new GroupComparison(limits, () => clock.nowMs)
  function record(
    group: 'to' | 'from',
    count: number,
    attempt: { failures?: number; readMs?: number; operation?: string } = {},
  ) {
    const { failures = 0, readMs, operation } = attempt
    const results = Array.from({ length: count }, (_, at) =>
      comparison.record(group, { operation, isFailed: at < failures, readMs: readMs ?? null }),
    )
    return results.find((result) => result !== null) ?? null
  }
  return { clock, comparison, record }
}

t.test('more failures than in the other group, by more than the limit, pass it', (t) => {
  const { record } = open()
  t.equal(record('from', 100, { failures: 5 }), null)
  t.equal(record('to', 100), null)
  t.equal(record('to', 17, { failures: 17 }), null, '17 of 117 are 14.5 %, 9.5 more than the other group')
  t.equal(record('to', 2, { failures: 2 }), 'errors')
  t.end()
})

t.test('failures that the other group has too pass no limit', (t) => {
  const { record } = open()
  record('from', 100, { failures: 50 })
  t.equal(record('to', 69, { failures: 5 }), null)
  t.equal(record('to', 100, { failures: 45 }), null)
  t.end()
})

t.test('fewer than twenty attempts pass no limit', (t) => {
  const { record } = open()
  t.equal(record('to', 19, { failures: 19 }), null)
  t.equal(record('to', 1), 'errors')
  t.end()
})

t.test('only the last ten seconds count', (t) => {
  const { clock, record } = open()
  record('to', 19, { failures: 19 })
  clock.nowMs = 10_000
  t.equal(record('to', 100), null, 'the failures are over')
  clock.nowMs = 10_900
  t.equal(record('to', 15, { failures: 15 }), 'errors')
  t.end()
})

t.test('a pause that is longer than the window ends all counts', (t) => {
  const { clock, record } = open()
  for (let second = 0; second < 10; second += 1) {
    clock.nowMs = second * 1000
    record('to', 1, { failures: 1 })
  }
  clock.nowMs = 3_600_000
  t.equal(record('to', 30), null)
  t.end()
})

t.test('the last values of the other group count if it has no requests any more', (t) => {
  const { clock, record } = open()
  record('from', 100, { failures: 30 })
  clock.nowMs = 60_000
  t.equal(record('to', 100, { failures: 0 }), null)
  t.equal(record('to', 60, { failures: 60 }), null, '60 of 160 are 37.5 %, 7.5 more than the other group')
  t.equal(record('to', 10, { failures: 10 }), 'errors')
  t.end()
})

t.test('reads that take too long on average pass the limit', (t) => {
  const { record } = open()
  record('from', 50, { readMs: 100 })
  t.equal(record('to', 50, { readMs: 290 }), null)
  t.equal(record('to', 50, { readMs: 400 }), 'latency')
  t.end()
})

t.test('short times pass no limit, however different they are', (t) => {
  const { record } = open()
  record('from', 50, { readMs: 1 })
  t.equal(record('to', 50, { readMs: 90 }), null)
  t.equal(record('to', 100, { readMs: 120 }), 'latency')
  t.end()
})

t.test('without reads of the other group, no time is too long', (t) => {
  const { record } = open()
  t.equal(record('to', 50, { readMs: 60_000 }), null)
  t.equal(open({ ...LIMITS, slower: null }).record('to', 50, { readMs: 60_000 }), null)
  t.end()
})

t.test('an operation whose attempts fail passes the limit, although most attempts succeed', (t) => {
  const { clock, record } = open()
  record('from', 1000, { operation: 'getTask' })
  record('from', 20, { operation: 'startProcessInstance' })
  for (let second = 0; second < 9; second += 1) {
    clock.nowMs += 5000
    t.equal(record('to', 1000, { operation: 'getTask' }), null)
    t.equal(record('to', 1, { failures: 1, operation: 'startProcessInstance' }), null)
  }
  t.equal(record('to', 1, { failures: 1, operation: 'startProcessInstance' }), 'errors')
  t.end()
})

t.test(
  'an operation passes no limit with half of its attempts failed, nor with failures at both groups',
  (t) => {
    const half = open()
    half.record('to', 1000)
    half.record('to', 10, { operation: 'startProcessInstance' })
    t.equal(half.record('to', 10, { failures: 10, operation: 'startProcessInstance' }), null)
    t.equal(half.record('to', 1, { failures: 1, operation: 'startProcessInstance' }), 'errors')
    const both = open()
    both.record('from', 1000)
    both.record('from', 10, { failures: 6, operation: 'startProcessInstance' })
    both.record('to', 1000)
    t.equal(both.record('to', 20, { failures: 20, operation: 'startProcessInstance' }), null)
    t.end()
  },
)

t.test('the attempts of an operation count for a minute, and not after a new share', (t) => {
  const { clock, comparison, record } = open()
  const failed = { failures: 9, operation: 'startProcessInstance' }
  record('to', 1000)
  record('to', 9, failed)
  clock.nowMs = 60_000
  record('to', 1000)
  t.equal(record('to', 9, failed), null, 'the first ones are over')
  comparison.clear()
  record('to', 1000)
  t.equal(record('to', 9, failed), null, 'the others do not count any more')
  t.equal(record('to', 1, failed), 'errors')
  t.end()
})

t.test('a limit above half of the attempts is the limit of each operation too', (t) => {
  const { record } = open({ ...LIMITS, errors: 1 })
  t.equal(record('to', 100, { failures: 100, operation: 'startProcessInstance' }), null)
  t.end()
})

t.test('without limits, nothing is compared', (t) => {
  const { record } = open(null)
  t.equal(record('to', 100, { failures: 100 }), null)
  t.end()
})

t.test('cleared counts are zero', (t) => {
  const { comparison, record } = open()
  record('to', 19, { failures: 19 })
  comparison.clear()
  t.equal(record('to', 19), null)
  t.end()
})

t.test('more differences within ten minutes than the limit pass it', (t) => {
  const { clock, comparison } = open()
  const differAt = (nowMs: number) => {
    clock.nowMs = nowMs
    return comparison.recordDifference()
  }
  t.same([0, 1, 600_000, 600_001].map(differAt), [null, null, null, null], 'the first two are too old')
  t.equal(differAt(600_002), 'differences')
  comparison.clear()
  t.same([600_003, 600_004, 600_005].map(differAt), [null, null, 'differences'])
  t.end()
})

t.test('without a limit, any number of differences passes none', (t) => {
  for (const limits of [null, { ...LIMITS, differences: null }]) {
    const { comparison } = open(limits)
    const found = Array.from({ length: 2000 }, () => comparison.recordDifference())
    t.ok(found.every((reason) => reason === null))
  }
  t.end()
})

t.test('with a limit of 0, the first difference passes it', (t) => {
  t.equal(open({ ...LIMITS, differences: 0 }).comparison.recordDifference(), 'differences')
  t.end()
})
