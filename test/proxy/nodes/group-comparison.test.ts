import t from 'tap'
import {
  describeFinding,
  GroupComparison,
  type GroupMemory,
  type ReturnLimits,
} from '../../../src/proxy/nodes/group-comparison.ts'

const LIMITS: ReturnLimits = { errors: 0.02, slower: 3, differences: 2 }

interface Attempts {
  readonly failures?: number
  readonly readMs?: number
  readonly operation?: string
  /** The callers, in turn. */
  readonly callers?: readonly string[]
}

function open(limits: ReturnLimits | null = LIMITS, memory?: GroupMemory) {
  const clock = { nowMs: 0 }
  const comparison = new GroupComparison(limits, () => clock.nowMs, memory)
  /** Records attempts with ten milliseconds between them, and distributes the failures evenly. Returns the first finding. */
  function find(group: 'to' | 'from', count: number, attempts: Attempts = {}) {
    const { failures = 0, readMs, operation, callers = ['ann', 'ben', 'cat', 'dan'] } = attempts
    for (let at = 0; at < count; at += 1) {
      clock.nowMs += 10
      const finding = comparison.record(group, {
        operation,
        caller: callers[at % callers.length] ?? '',
        isFailed: Math.floor(((at + 1) * failures) / count) > Math.floor((at * failures) / count),
        readMs: readMs ?? null,
      })
      if (finding !== null) return finding
    }
    return null
  }
  return {
    clock,
    comparison,
    find,
    reason: (...args: Parameters<typeof find>) => find(...args)?.reason ?? null,
  }
}

t.test('failures that cannot be a coincidence return the requests', async (t) => {
  const { find } = open()
  t.equal(find('from', 1000, { failures: 5 }), null)
  t.equal(find('to', 100), null)
  t.match(find('to', 40, { failures: 40 }), {
    reason: 'errors',
    operation: null,
    windowMs: 60_000,
    to: { attempts: 111, failures: 11 },
    from: { attempts: 1000, failures: 5 },
    caller: 'ann',
  })
})

t.test('the same share of failures in both groups returns nothing', async (t) => {
  const { find } = open()
  for (let round = 0; round < 20; round += 1) {
    t.equal(find('from', 100, { failures: 10 }), null)
    t.equal(find('to', 100, { failures: 10 }), null)
  }
})

t.test('failures that begin in both groups at the same time return nothing', async (t) => {
  const { comparison, find } = open()
  find('from', 10_000)
  comparison.clear()
  for (let round = 0; round < 20; round += 1) {
    t.equal(find('from', 50, { failures: 20 }), null)
    t.equal(find('to', 50, { failures: 20 }), null)
  }
})

t.test('fewer than five failures return nothing', async (t) => {
  const { find, reason } = open()
  find('from', 10_000)
  t.equal(reason('to', 4, { failures: 4 }), null)
  t.equal(reason('to', 1, { failures: 1 }), 'errors')
})

t.test('failures of one caller return nothing if other callers have none', async (t) => {
  const { find } = open()
  find('from', 10_000)
  for (let round = 0; round < 60; round += 1) {
    t.equal(find('to', 3, { failures: 3, callers: ['eve'] }), null)
    t.equal(find('to', 50), null)
  }
})

t.test(
  'failures of one caller return nothing if other callers fail as often as in the other group',
  async (t) => {
    const { find } = open()
    find('from', 10_000, { failures: 100 })
    for (let round = 0; round < 60; round += 1) {
      t.equal(find('to', 5, { failures: 5, callers: ['eve'] }), null)
      t.equal(find('to', 100, { failures: 1 }), null)
    }
  },
)

t.test('failures of the only caller return the requests', async (t) => {
  const { clock, find } = open()
  find('from', 1000, { callers: ['ann'] })
  clock.nowMs += 600_000
  t.match(find('to', 5, { failures: 5, callers: ['ann'] }), { reason: 'errors', caller: 'ann' })
})

t.test('an increase that is not larger than the limit returns nothing, however certain it is', async (t) => {
  const { find } = open({ ...LIMITS, errors: 0.3 })
  find('from', 10_000)
  for (let round = 0; round < 20; round += 1) t.equal(find('to', 100, { failures: 25 }), null)
})

t.test(
  'failures before a change of the shares do not count, and the other group is remembered',
  async (t) => {
    const { comparison, find, reason } = open()
    find('from', 10_000)
    find('to', 4, { failures: 4 })
    comparison.clear()
    t.equal(reason('to', 4, { failures: 4 }), null)
    t.match(find('to', 1, { failures: 1 }), { from: { attempts: 10_000 } })
  },
)

t.test('failures count for ten minutes', async (t) => {
  const { clock, find, reason } = open()
  find('from', 10_000)
  find('to', 4, { failures: 4 })
  clock.nowMs += 620_000
  t.equal(reason('to', 4, { failures: 4 }), null)
})

t.test('an operation whose requests fail is found among many others', async (t) => {
  const { find } = open()
  find('from', 5000, { operation: 'getTask' })
  find('from', 200, { operation: 'startProcessInstance' })
  for (let round = 0; round < 4; round += 1) {
    t.equal(find('to', 1000, { operation: 'getTask' }), null)
    t.equal(
      find('to', 1, { failures: 1, operation: 'startProcessInstance', callers: [`user ${round}`] }),
      null,
    )
  }
  t.match(find('to', 1, { failures: 1, operation: 'startProcessInstance' }), {
    reason: 'errors',
    operation: 'startProcessInstance',
    to: { attempts: 5, failures: 5 },
    from: { attempts: 200, failures: 0 },
  })
})

t.test('the attempts of an operation that fails in the other group too are no reason', async (t) => {
  const { find } = open()
  find('from', 5000, { operation: 'getTask' })
  find('from', 200, { failures: 150, operation: 'startProcessInstance' })
  find('to', 5000, { operation: 'getTask' })
  t.equal(find('to', 50, { failures: 40, operation: 'startProcessInstance' }), null)
})

t.test('the memory of the other group lasts over a new configuration', async (t) => {
  const before = open()
  before.find('from', 3000, { failures: 300 })
  const after = open(LIMITS, before.comparison.memory)
  t.equal(after.find('to', 300, { failures: 30 }), null)
  const withoutMemory = open()
  t.match(withoutMemory.find('to', 60, { failures: 60 }), {
    reason: 'errors',
    from: { attempts: 100, failures: 0 },
  })
})

t.test('reads that take too long on average pass the limit, after the group is warm', async (t) => {
  const { clock, find, reason } = open()
  find('from', 50, { readMs: 100 })
  t.equal(reason('to', 50, { readMs: 400 }), null, 'the group is cold')
  clock.nowMs = 40_000
  t.equal(reason('to', 50, { readMs: 200 }), null)
  t.match(find('to', 50, { readMs: 450 }), { reason: 'latency', fromMs: 100 })
})

t.test('after a change of the shares, the group may be cold again', async (t) => {
  const { clock, comparison, find, reason } = open()
  clock.nowMs = 40_000
  find('from', 50, { readMs: 100 })
  comparison.clear()
  clock.nowMs += 29_000
  t.equal(reason('to', 50, { readMs: 400 }), null)
  clock.nowMs += 1000
  t.equal(reason('to', 50, { readMs: 400 }), 'latency')
})

t.test('short times pass no limit, however different they are', async (t) => {
  const { clock, find, reason } = open()
  clock.nowMs = 40_000
  find('from', 50, { readMs: 1 })
  t.equal(reason('to', 50, { readMs: 90 }), null)
  t.equal(reason('to', 100, { readMs: 120 }), 'latency')
})

t.test('times are compared with those of the same moment if the other group has reads', async (t) => {
  const { clock, find, reason } = open()
  find('from', 3000, { readMs: 100 })
  clock.nowMs = 100_000
  find('from', 20, { readMs: 1000 })
  t.equal(reason('to', 30, { readMs: 1500 }), null, 'both groups are slow')
  clock.nowMs = 200_000
  t.equal(reason('to', 30, { readMs: 1500 }), 'latency')
})

t.test('without reads of the other group, no time is too long', async (t) => {
  for (const limits of [LIMITS, { ...LIMITS, slower: null }]) {
    const { clock, find, reason } = open(limits)
    if (limits.slower === null) find('from', 50, { readMs: 1 })
    clock.nowMs = 40_000
    t.equal(reason('to', 50, { readMs: 60_000 }), null)
  }
})

t.test('without limits, nothing is compared', async (t) => {
  t.equal(open(null).reason('to', 100, { failures: 100 }), null)
})

t.test('more differences within ten minutes than the limit pass it', async (t) => {
  const { clock, comparison } = open()
  const differAt = (nowMs: number) => {
    clock.nowMs = nowMs
    return comparison.recordDifference()?.reason ?? null
  }
  t.same([0, 1, 600_000, 600_001].map(differAt), [null, null, null, null], 'the first two are too old')
  t.equal(differAt(600_002), 'differences')
  comparison.clear()
  t.same([600_003, 600_004, 600_005].map(differAt), [null, null, 'differences'])
})

t.test('without a limit, any number of differences passes none', async (t) => {
  for (const limits of [null, { ...LIMITS, differences: null }]) {
    const { comparison } = open(limits)
    const found = Array.from({ length: 2000 }, () => comparison.recordDifference())
    t.ok(found.every((finding) => finding === null))
  }
})

t.test('with a limit of 0, the first difference passes it', async (t) => {
  t.match(open({ ...LIMITS, differences: 0 }).comparison.recordDifference(), {
    reason: 'differences',
    found: 1,
  })
})

t.test(
  'a finding names the operation, both counts, the test and the caller with the most failures',
  async (t) => {
    const errors = {
      reason: 'errors',
      operation: 'startProcessInstance',
      windowMs: 60_000,
      to: { attempts: 44, failures: 40 },
      from: { attempts: 20_000, failures: 3 },
      probability: 1.2345e-60,
      caller: 'ann',
    } as const
    t.equal(
      describeFinding(errors),
      "startProcessInstance: 40 of 44 requests failed in 60 s, and 3 of 20000 in the other group (Fisher's exact test, p = 1.2e-60); the most failures: user ann",
    )
    t.match(
      describeFinding({ ...errors, operation: null, caller: '' }),
      /^all operations: .*requests of the gateway itself$/,
    )
    t.equal(
      describeFinding({ reason: 'latency', reads: 30, toMs: 500.4, fromMs: 10 }),
      '30 reads took 500 ms on average, and 10 ms in the other group',
    )
    t.equal(describeFinding({ reason: 'differences', found: 3 }), '3 differences within ten minutes')
    t.match(describeFinding({ reason: 'down', rerouted: 7, sinceMs: 510 }), /510 ms; 7 requests/)
  },
)
