import t from 'tap'
import {
  createAttemptPacer,
  type AttemptPacerOptions,
  type AttemptOrigin,
} from '../../../src/policy/authn/attempt-pacer.ts'
import { createFakeTime } from '../../support/fake-time.ts'

const BOTH = { ofUserMs: 200, ofAddressMs: 50 }
const OF_USER = { ofUserMs: 200, ofAddressMs: 0 }
const OF_ADDRESS = { ofUserMs: 0, ofAddressMs: 50 }

const BEGUN_AT_MS = 1_000_000

function open(options: AttemptPacerOptions = {}) {
  const time = createFakeTime()
  const turns = createAttemptPacer({ now: time.now, schedule: time.schedule, ...options })
  /** The turns with their times, for example `mary@100`. */
  const begun: string[] = []
  const refused: string[] = []
  const take = (user: string, spacing: typeof BOTH, address = 'a'): Promise<() => void> => {
    const who: AttemptOrigin = { user, address }
    const turn = turns.take(who, spacing)
    turn.then(
      () => begun.push(`${user}@${time.now() - BEGUN_AT_MS}`),
      () => refused.push(user),
    )
    return turn
  }
  /** Moves the clock in steps, so that each turn is recorded at its time. */
  const run = async (ms: number) => {
    await new Promise(setImmediate)
    for (let at = 0; at < ms; at += 10) {
      time.advance(10)
      await new Promise(setImmediate)
    }
  }
  return { time, take, run, begun, refused }
}

t.test('attempts of one user begin one after another, and the first begins at once', async (t) => {
  const { take, run, begun } = open()
  for (let attempt = 0; attempt < 3; attempt += 1) void take('mary', OF_USER)
  await run(1_000)
  t.same(begun, ['mary@0', 'mary@200', 'mary@400'])
})

t.test('users of one address take turns, however many attempts one of them has queued', async (t) => {
  const { take, run, begun } = open()
  for (let attempt = 0; attempt < 3; attempt += 1) void take('mary', OF_ADDRESS)
  void take('demo', OF_ADDRESS)
  await run(1_000)
  t.same(begun, ['mary@0', 'mary@50', 'demo@100', 'mary@150'])
})

t.test('attempts at different addresses do not wait for each other', async (t) => {
  const { take, run, begun } = open()
  void take('mary', BOTH, 'a')
  void take('mary', BOTH, 'b')
  await run(0)
  t.same(begun, ['mary@0', 'mary@0'])
})

t.test('a user whose address is not slowed waits only for their own turns', async (t) => {
  const { take, run, begun } = open()
  void take('mary', OF_ADDRESS)
  void take('demo', OF_ADDRESS)
  void take('anna', OF_USER)
  await run(1_000)
  t.same(begun, ['mary@0', 'anna@0', 'demo@50'])
})

t.test('a returned turn lets the next attempt begin at once', async (t) => {
  for (const spacing of [BOTH, OF_USER, OF_ADDRESS]) {
    const { take, run, begun } = open()
    const first = take('mary', spacing)
    void take('mary', spacing)
    await run(20)
    const release = await first
    release()
    await run(0)
    t.same(begun, ['mary@0', 'mary@20'], JSON.stringify(spacing))
  }
})

t.test('a turn that is returned late does not shorten a later one', async (t) => {
  for (const [spacing, expected] of [
    [OF_USER, 'mary@400'],
    [OF_ADDRESS, 'mary@100'],
  ] as const) {
    const { take, run, begun } = open()
    const first = take('mary', spacing)
    for (let attempt = 0; attempt < 2; attempt += 1) void take('mary', spacing)
    await run(spacing.ofUserMs + spacing.ofAddressMs + 10)
    const release = await first
    release()
    await run(1_000)
    t.equal(begun[2], expected, JSON.stringify(spacing))
  }
})

t.test('returning a turn of a user does not return a turn of the address', async (t) => {
  const { take, run, begun } = open()
  void take('demo', OF_ADDRESS)
  const own = take('mary', OF_USER)
  void take('ben', OF_ADDRESS)
  await run(10)
  const release = await own
  release()
  await run(1_000)
  t.same(begun, ['demo@0', 'mary@0', 'ben@50'])
})

t.test('a finished turn still delays the next one', async (t) => {
  for (const [spacing, expected] of [
    [OF_USER, 'mary@200'],
    [OF_ADDRESS, 'mary@50'],
  ] as const) {
    const { take, run, begun } = open()
    void take('mary', spacing)
    await run(20)
    void take('mary', spacing)
    await run(1_000)
    t.same(begun, ['mary@0', expected], JSON.stringify(spacing))
  }
})

t.test('no timer remains after the last turn and its spacing', async (t) => {
  const { time, take, run } = open()
  void take('mary', BOTH)
  void take('demo', BOTH)
  await run(1_000)
  t.equal(time.nextMs(), null)
  void take('mary', OF_ADDRESS)
  await run(OF_ADDRESS.ofAddressMs)
  t.equal(time.nextMs(), null, 'not a moment longer than the turn takes')
})

t.test('the number of queued attempts of one user at one address is bounded', async (t) => {
  const { take, run, refused } = open({ maxOfUser: 2 })
  // The first attempt begins at once.
  for (let attempt = 0; attempt < 4; attempt += 1) take('mary', BOTH).catch(() => undefined)
  take('mary', BOTH, 'b').catch(() => undefined)
  await run(0)
  t.same(refused, ['mary'])
})

t.test('if the queue is full, the user with the most queued attempts loses one, each time', async (t) => {
  const { take, run, begun, refused } = open({ maxOfAddress: 5, maxWaiting: 5 })
  // The first attempt begins at once.
  const attempts = ['carl', 'ben', 'mary', 'mary', 'mary', 'eve', 'demo']
  const expected = ['ben', 'carl', 'demo', 'eve', 'mary', 'mary']
  for (let time = 1; time <= 3; time += 1) {
    for (const user of attempts) take(user, BOTH).catch(() => undefined)
    await run(2_000)
    t.same(refused, Array<string>(time).fill('mary'))
    t.same(
      begun
        .splice(0)
        .map((text) => text.split('@')[0] ?? '')
        .sort((one, other) => one.localeCompare(other)),
      expected,
    )
  }
})

t.test('no attempt is removed for a user who would then have as many queued', async (t) => {
  const { take, run, refused } = open({ maxOfAddress: 3 })
  for (const user of ['mary', 'mary', 'mary', 'ben', 'ben']) take(user, BOTH).catch(() => undefined)
  await run(0)
  t.same(refused, ['ben'])
})

t.test('the number of queued attempts of all addresses is bounded, and a freed slot is reused', async (t) => {
  const { take, run, begun, refused } = open({ maxWaiting: 1 })
  void take('mary', BOTH, 'a')
  void take('mary', BOTH, 'a')
  take('demo', BOTH, 'b').catch(() => undefined)
  await run(250)
  t.same(refused, ['demo'])
  void take('demo', BOTH, 'b')
  await run(0)
  t.same(begun, ['mary@0', 'mary@200', 'demo@250'])
})
