import t from 'tap'
import { Nudges, type NudgeResult } from '../../../src/proxy/long-polls/nudges.ts'
import { createOwnTurns, type TurnTaker } from '../../../src/redis/shared-turns.ts'
import { createFakeTime, type FakeTime } from '../../support/fake-time.ts'

interface FakeTarget {
  readonly name: string
  isParkedNow: boolean
  isUsableNow: boolean
  accepts: boolean
  /** The times of the nudges, in milliseconds since the start. */
  readonly sentAtMs: number[]
  /** Waits until the nudge in flight may end. If undefined, a nudge ends at once. */
  hold: (() => Promise<void>) | undefined
}

interface Harness {
  readonly time: FakeTime
  readonly nudges: Nudges
  readonly targets: readonly FakeTarget[]
  readonly results: NudgeResult[]
  /** Moves the clock in small steps, so that asynchronous work between two timers completes. */
  readonly advance: (ms: number) => Promise<void>
}

const EVERY_MS = 750
const STEP_MS = 5

function open(
  names: readonly string[],
  {
    time = createFakeTime(),
    turns = createOwnTurns(time.now),
  }: { readonly time?: FakeTime; readonly turns?: TurnTaker } = {},
): Harness {
  const beganMs = time.now()
  const results: NudgeResult[] = []
  const targets = names.map(
    (name): FakeTarget => ({
      name,
      isParkedNow: true,
      isUsableNow: true,
      accepts: true,
      sentAtMs: [],
      hold: undefined,
    }),
  )
  const nudges = new Nudges({
    targets: targets.map((target) => ({
      name: target.name,
      isParked: () => target.isParkedNow,
      isUsable: () => target.isUsableNow,
      send: async () => {
        target.sentAtMs.push(time.now() - beganMs)
        await target.hold?.()
        return target.accepts
      },
    })),
    everyMs: EVERY_MS,
    turns,
    onNudge: (result) => results.push(result),
    now: time.now,
    schedule: time.schedule,
  })
  return { time, nudges, targets, results, advance: (ms) => advance(time, ms) }
}

async function advance(time: FakeTime, ms: number): Promise<void> {
  for (let done = 0; done < ms; done += STEP_MS) {
    time.advance(STEP_MS)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function countsOf({ targets }: Harness): readonly number[] {
  return targets.map(({ sentAtMs }) => sentAtMs.length)
}

t.test('a write at one node nudges every other node that holds polls, once', async (t) => {
  const harness = open(['a', 'b', 'c'])
  harness.nudges.written('a')
  await harness.advance(100)
  t.same(countsOf(harness), [0, 1, 1])
  t.same(harness.results, ['ok', 'ok'])
})

t.test('a node that holds no poll of a connected client is not nudged', async (t) => {
  const harness = open(['a', 'b'])
  for (const target of harness.targets) target.isParkedNow = false
  harness.nudges.watch()
  harness.nudges.written('a')
  await harness.advance(3000)
  t.same(countsOf(harness), [0, 0])
})

t.test('an engine with one node is never nudged', async (t) => {
  const harness = open(['a'])
  harness.nudges.watch()
  harness.nudges.written('a')
  harness.nudges.written('other')
  await harness.advance(3000)
  t.same(countsOf(harness), [0])
})

t.test('writes in quick succession are coalesced into one nudge at once and one for each gap', async (t) => {
  const harness = open(['a', 'b'])
  for (let i = 0; i < 40; i += 1) {
    harness.nudges.written('a')
    await harness.advance(5)
  }
  await harness.advance(100)
  const [, b] = harness.targets
  t.ok((b?.sentAtMs[0] ?? Infinity) <= 10)
  const gaps = b?.sentAtMs.slice(1).map((ms, index) => ms - (b.sentAtMs[index] ?? 0)) ?? []
  t.ok(gaps.length >= 3 && gaps.every((gap) => gap >= 50 && gap <= 65), gaps.join(' '))
  t.ok((b?.sentAtMs.at(-1) ?? 0) >= 195, 'the last write is followed by a nudge')
})

t.test('a write while a nudge is in flight causes another nudge afterwards', async (t) => {
  const harness = open(['a', 'b'])
  const [, b] = harness.targets
  const releases: (() => void)[] = []
  if (b !== undefined) b.hold = () => new Promise((resolve) => void releases.push(resolve))
  harness.nudges.written('a')
  await harness.advance(10)
  harness.nudges.written('a')
  await harness.advance(60)
  t.same(countsOf(harness), [0, 1], 'there is one nudge at a time')
  releases.shift()?.()
  await harness.advance(300)
  t.same(countsOf(harness), [0, 2])
})

t.test('the gap between nudges of a node is three times the duration of a nudge', async (t) => {
  const harness = open(['a', 'b'])
  const [, b] = harness.targets
  if (b !== undefined)
    b.hold = () => new Promise((resolve) => void harness.time.schedule(() => resolve(), 100))
  for (let i = 0; i < 40; i += 1) {
    harness.nudges.written('a')
    await harness.advance(25)
  }
  const gaps = b?.sentAtMs.slice(1).map((ms, index) => ms - (b.sentAtMs[index] ?? 0)) ?? []
  // The first two gaps are short, because a node that has just started is slow only at first.
  const later = gaps.slice(2)
  t.ok(later.length >= 2 && later.every((gap) => gap >= 300 && gap <= 345), gaps.join(' '))
  t.ok(
    gaps.slice(0, 2).every((gap) => gap >= 100 && gap <= 145),
    gaps.join(' '),
  )
})

t.test(
  'without writes, every node that holds polls is nudged at intervals until its polls have ended',
  async (t) => {
    const harness = open(['a', 'b'])
    const [a] = harness.targets
    harness.nudges.watch()
    harness.nudges.watch()
    await harness.advance(740)
    t.same(countsOf(harness), [0, 0])
    await harness.advance(20)
    t.same(countsOf(harness), [1, 1])
    await harness.advance(750 * 3)
    t.same(countsOf(harness), [4, 4])
    if (a !== undefined) a.isParkedNow = false
    await harness.advance(750 * 2)
    t.same(countsOf(harness), [4, 6])
    if (a !== undefined) a.isParkedNow = true
    harness.nudges.watch()
    await harness.advance(760)
    t.equal(countsOf(harness)[0], 5, 'the next poll starts the intervals again')
  },
)

t.test('an ejected or overloaded node is not nudged', async (t) => {
  const harness = open(['a', 'b'])
  const [, b] = harness.targets
  if (b !== undefined) b.isUsableNow = false
  harness.nudges.written('a')
  await harness.advance(20)
  t.same(countsOf(harness), [0, 0])
  t.same(harness.results, ['skipped'])
  if (b !== undefined) b.isUsableNow = true
  await harness.advance(760)
  t.same(countsOf(harness), [0, 1])
})

t.test('a node that refuses nudges is nudged at growing intervals, even after writes', async (t) => {
  const harness = open(['a', 'b'])
  const [, b] = harness.targets
  if (b !== undefined) b.accepts = false
  for (let i = 0; i < 1200; i += 1) {
    harness.nudges.written('a')
    await harness.advance(50)
  }
  t.ok(b !== undefined && b.sentAtMs.length <= 7, b?.sentAtMs.join(' ') ?? '')
  t.ok(harness.results.every((result) => result === 'failed'))
})

t.test('processes that share turns do not multiply nudges, and a nudge follows every write', async (t) => {
  const time = createFakeTime()
  const turns = createOwnTurns(time.now)
  const processes = [1, 2, 3, 4].map(() => open(['a', 'b'], { time, turns }))
  for (const { nudges } of processes) nudges.watch()
  await advance(time, 750 * 4 + 20)
  const idle = processes.flatMap(({ targets }) => targets[1]?.sentAtMs ?? [])
  t.ok(idle.length >= 3 && idle.length <= 5, `${idle.length} nudges in four intervals`)
  for (let i = 0; i < 20; i += 1) {
    // Each process learns of the write at a different time.
    for (const { nudges } of processes) {
      nudges.written('a')
      await advance(time, 5)
    }
  }
  const lastWriteMs = 750 * 4 + 20 + 20 * 4 * 5
  await advance(time, 120)
  const all = processes.flatMap(({ targets }) => targets[1]?.sentAtMs ?? [])
  t.ok(all.length - idle.length <= 11, `${all.length - idle.length} nudges in 520 ms`)
  t.ok(Math.max(...all) >= lastWriteMs - 5, 'the last write is followed by a nudge')
})

t.test('no node is nudged after close', async (t) => {
  const harness = open(['a', 'b'])
  harness.nudges.watch()
  harness.nudges.written('a')
  harness.nudges.close()
  harness.nudges.written('b')
  harness.nudges.watch()
  await harness.advance(3000)
  t.same(countsOf(harness), [0, 0])
  t.equal(harness.time.nextMs(), null)
})

t.test('the gap of a slow node applies to the intervals as well', async (t) => {
  const harness = open(['a', 'b'])
  const [, b] = harness.targets
  if (b !== undefined)
    b.hold = () => new Promise((resolve) => void harness.time.schedule(() => resolve(), 4000))
  harness.nudges.watch()
  await harness.advance(40_000)
  const gaps = b?.sentAtMs.slice(1).map((ms, index) => ms - (b.sentAtMs[index] ?? 0)) ?? []
  const later = gaps.slice(2)
  t.ok(later.length >= 1 && later.every((gap) => gap >= 6000 && gap <= 6100), gaps.join(' '))
})

for (const [durationMs, gapMs] of [
  [200, 600],
  [300, 900],
  [400, 1000],
  [600, 1000],
  [1000, 1500],
  [4000, 6000],
] as const)
  t.test(`nudges of ${durationMs} ms begin at least ${gapMs} ms after each other`, async (t) => {
    const harness = open(['a', 'b'])
    const [, b] = harness.targets
    if (b !== undefined)
      b.hold = () => new Promise((resolve) => void harness.time.schedule(() => resolve(), durationMs))
    for (let at = 0; at < 8 * gapMs; at += STEP_MS) {
      harness.nudges.written('a')
      await harness.advance(STEP_MS)
    }
    const gaps = b?.sentAtMs.slice(1).map((ms, index) => ms - (b.sentAtMs[index] ?? 0)) ?? []
    const later = gaps.slice(2)
    t.ok(later.length >= 3 && later.every((gap) => gap >= gapMs && gap <= gapMs + 100), gaps.join(' '))
  })

t.test('two slow nudges of a node that has just started do not delay the following ones', async (t) => {
  const harness = open(['a', 'b'])
  const [, b] = harness.targets
  const durationsMs = [2000, 1000, 10, 10, 10, 10]
  if (b !== undefined)
    b.hold = () =>
      new Promise((resolve) => void harness.time.schedule(() => resolve(), durationsMs.shift() ?? 10))
  for (let at = 0; at < 800; at += 1) {
    harness.nudges.written('a')
    await harness.advance(STEP_MS)
  }
  const gaps = b?.sentAtMs.slice(1).map((ms, index) => ms - (b.sentAtMs[index] ?? 0)) ?? []
  t.ok(
    gaps.slice(0, 2).every((gap, at) => gap <= (at === 0 ? 2020 : 1020)),
    gaps.slice(0, 2).join(' '),
  )
  t.ok(gaps.length > 10 && gaps.slice(2).every((gap) => gap <= 70), gaps.join(' '))
})
