import t from 'tap'
import { GroupComparison } from '../../../src/proxy/nodes/group-comparison.ts'
import { Random } from '../../differential/random.ts'
import { seed } from '../../support/requirements.ts'

/** Runs of each case. `SIMULATED_RUNS=1000 npx tap run --timeout=7200 test/proxy/nodes/false-returns.test.ts` takes about an hour. */
const RUNS = Number(process.env['SIMULATED_RUNS'] ?? 1)
const HOURS_MS = 4 * 3_600_000
const CALLERS = 20
const LIMITS = { errors: 0.02, slower: null, differences: null }
const OPERATIONS = ['getTask', 'getTask', 'getTask', 'complete', 'startProcessInstance']

interface Traffic {
  readonly perSecond: number
  /** The share of the group `to`. */
  readonly share: number
  /** The share of requests that fail in both groups. */
  readonly failures: number
  /** The further share of requests that fail in the group `to`. */
  readonly more?: number
  /** The operation that fails in the group `to`. Default: any operation. */
  readonly operation?: string
}

/** Simulates ten minutes of one group, and then traffic to both. Returns after how many ms the requests return, or null. */
function returnedAfterMs(traffic: Traffic, lastMs: number, random: Random): number | null {
  const clock = { nowMs: 0 }
  const comparison = new GroupComparison(LIMITS, () => clock.nowMs)
  const stepMs = 1000 / traffic.perSecond
  for (; clock.nowMs < 600_000; clock.nowMs += stepMs) record(comparison, { ...traffic, share: 0 }, random)
  comparison.clear()
  for (; clock.nowMs < 600_000 + lastMs; clock.nowMs += stepMs)
    if (record(comparison, traffic, random)) return clock.nowMs - 600_000
  return null
}

function record(comparison: GroupComparison, traffic: Traffic, random: Random): boolean {
  const { share, failures, more = 0, operation: broken } = traffic
  const operation = OPERATIONS[random.below(OPERATIONS.length)] ?? ''
  const isTo = random.chance(share)
  const added = isTo && (broken === undefined || broken === operation) ? more : 0
  const finding = comparison.record(isTo ? 'to' : 'from', {
    operation,
    caller: `user ${random.below(CALLERS)}`,
    isFailed: random.chance(failures + added),
    readMs: null,
  })
  return finding !== null
}

function runsOf(traffic: Traffic, lastMs: number, runs: number): (number | null)[] {
  return Array.from({ length: runs }, (_, run) => returnedAfterMs(traffic, lastMs, Random.of(seed, run)))
}

for (const perSecond of [5, 20])
  for (const share of [0.1, 0.5, 1])
    t.test(
      `equal failures return at most one of a hundred shifts in four hours: ${perSecond} requests a second, ${share * 100} %`,
      async (t) => {
        for (const failures of [0.01, 0.02, 0.05, 0.1]) {
          const returned = runsOf({ perSecond, share, failures }, HOURS_MS, RUNS).filter((ms) => ms !== null)
          t.ok(returned.length <= RUNS / 100, `${failures * 100} %: ${returned.length} of ${RUNS}`)
        }
      },
    )

const FOUND_RUNS = Math.max(RUNS, 21)

t.test(
  'an increase by five percentage points at 20 requests a second is found within a minute',
  async (t) => {
    for (const failures of [0, 0.01, 0.02, 0.05, 0.1]) {
      const medianMs = medianOf(
        runsOf({ perSecond: 20, share: 1, failures, more: 0.05 }, 600_000, FOUND_RUNS),
      )
      t.ok(medianMs <= 60_000, `from ${failures * 100} %: ${medianMs / 1000} s`)
    }
  },
)

t.test('if every start fails, this is found within five seconds', async (t) => {
  for (const failures of [0, 0.01]) {
    const traffic = { perSecond: 20, share: 1, failures, more: 1, operation: 'startProcessInstance' }
    const medianMs = medianOf(runsOf(traffic, 600_000, FOUND_RUNS))
    t.ok(medianMs <= 5000, `from ${failures * 100} %: ${medianMs / 1000} s`)
  }
})

t.test('if every request fails, this is found within a second', async (t) => {
  const medianMs = medianOf(
    runsOf({ perSecond: 20, share: 1, failures: 0.01, more: 0.99 }, 600_000, FOUND_RUNS),
  )
  t.ok(medianMs <= 1000, `${medianMs / 1000} s`)
})

function medianOf(values: readonly (number | null)[]): number {
  const sorted = values.map((value) => value ?? Infinity).toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Infinity
}
