import t, { type Test } from 'tap'
import { createSharedShifts, SHARED_SHIFT_TIMES_MS } from '../../src/assembly/shared-shifts.ts'
import type { ReturnLimits } from '../../src/proxy/nodes/group-comparison.ts'
import { Shift, type ShiftShares, type ShiftState } from '../../src/proxy/nodes/shift.ts'
import type { SharedValues } from '../../src/redis/shared-values.ts'
import { startNode } from '../support/fake-engine.ts'
import { type Reloadable, startReloadable } from '../support/reloadable.ts'
import { redisSkip } from '../support/requirements.ts'
import { startRedis } from '../support/redis.ts'
import { until } from '../support/cache-harness.ts'

const SETTINGS = {
  to: 'new',
  release: null,
  reads: 0.1,
  writes: 0,
  operations: null,
  callers: null,
  return: { errors: 0.05, slower: null, differences: null },
}
const FILE = { reads: 0.1, writes: 0 }
const MOVED = { reads: 0.5, writes: 0.25 }
const ZERO = { reads: 0, writes: 0 }

/** The state after the group has passed a limit. */
const RETURNED = {
  shares: ZERO,
  returned: 'errors',
  changedAtMs: 2000,
  knownMs: 0,
} as const

/** Values that stay in the memory of the test. */
class StoredValues implements SharedValues {
  readonly texts = new Map<string, string>()
  readonly keepMs = new Map<string, number>()
  isUp = true
  writes = 0

  readonly read: SharedValues['read'] = async (name) => {
    const text = this.texts.get(name)
    if (!this.isUp) return 'unavailable'
    return text === undefined ? null : { text }
  }

  readonly write: SharedValues['write'] = async (name, text, keepMs) => {
    if (!this.isUp) return false
    this.writes += 1
    this.texts.set(name, text)
    this.keepMs.set(name, keepMs)
    return true
  }

  readonly close = () => undefined
}

interface ReplicaOptions {
  /** The share of reads in the configuration. */
  readonly reads?: number
  readonly wallNow?: () => number
  readonly isTakenOver?: boolean
  readonly formerMs?: number
  readonly to?: string
  readonly state?: ShiftState
  readonly limits?: ReturnLimits
}

/** Starts the shares of a replica. `compare` compares them with the stored ones, as the timer does. */
async function startReplica(
  t: Test,
  values: StoredValues,
  {
    reads = FILE.reads,
    wallNow = () => 1000,
    isTakenOver = false,
    formerMs = 0,
    to = 'new',
    state,
    limits,
  }: ReplicaOptions = {},
) {
  const settings = { ...SETTINGS, reads, to }
  const options = {
    ...settings,
    from: to === 'new' ? 'old' : 'new',
    limits: limits ?? null,
    state: state ?? null,
    onReturn: () => undefined,
  }
  const shift = new Shift(options, { random: () => 0.5, now: () => 0, wallNow })
  const warnings: string[] = []
  const timer = { compare: (): void => undefined }
  const component = createSharedShifts({
    engines: [{ name: 'default', settings, shift, isTakenOver, formerMs }],
    openValues: (onReady) => {
      timer.compare = onReady
      setImmediate(onReady)
      return values
    },
    wallNow,
    log: {
      info: () => undefined,
      warn: (_details: object, message?: string) => void warnings.push(message ?? ''),
    },
  })
  await component.start?.()
  t.teardown(() => component.stop?.())
  const compare = async () => {
    timer.compare()
    await new Promise(setImmediate)
    await new Promise(setImmediate)
  }
  return {
    shift,
    warnings,
    compareNow: component.compare,
    compare,
    /** Changes the shares as a command does, and compares them. */
    change: async (shares: ShiftShares) => {
      shift.change(shares)
      await compare()
    },
    /** Applies a state that another process has decided, and compares it. */
    adopt: async (decided: ShiftState) => {
      shift.adopt(decided)
      await compare()
    },
    close: async () => {
      component.stop?.()
      await component.close?.()
    },
  }
}

/** Creates an empty store, and the function that starts a replica with it. */
function createStore(t: Test) {
  const values = new StoredValues()
  const start = (options?: ReplicaOptions) => startReplica(t, values, options)
  return { values, start, startShift: async (options?: ReplicaOptions) => (await start(options)).shift }
}

/** Compares the shares of replicas, one after another. */
async function compareInTurn(...replicas: readonly Pick<Replica, 'compare'>[]): Promise<void> {
  for (const replica of replicas) await replica.compare()
}

type Replica = Awaited<ReturnType<typeof startReplica>>

t.test('a replica that starts has the shares of the others, and not those of the file', async (t) => {
  const { values, start } = createStore(t)
  const first = await start()
  t.equal(values.writes, 0, 'shares of the file are not stored')
  await first.change(MOVED)
  const second = await start()
  t.same(second.shift.shares, MOVED)
  await second.change(ZERO)
  await first.compare()
  t.same(first.shift.state, second.shift.state)
  t.same(second.warnings, [])
})

t.test('a process stores its last change when it ends', async (t) => {
  const { values, start, startShift } = createStore(t)
  const first = await start()
  values.isUp = false
  first.shift.change(MOVED)
  await new Promise(setImmediate)
  values.isUp = true
  await first.close()
  t.same((await startShift()).shares, MOVED)
})

t.test(
  'a change before Redis responds for the first time is stored, and replaces the shares of the file',
  async (t) => {
    const { values, start, startShift } = createStore(t)
    values.isUp = false
    const first = await start()
    await first.change(MOVED)
    values.isUp = true
    await first.compare()
    const { state } = await startShift()
    t.same([state.shares, first.shift.state], [MOVED, state])
  },
)

t.test('the reason of a return is stored too', async (t) => {
  const { start, startShift } = createStore(t)
  const first = await start()
  await first.adopt({ ...RETURNED, changedAtMs: 7 })
  t.equal((await startShift()).returned, 'errors')
})

t.test('the last change wins, also if the clock of its replica is behind', async (t) => {
  const { start } = createStore(t)
  const ahead = await start({ wallNow: () => 9000 })
  const behind = await start({ wallNow: () => 1000 })
  await ahead.change(MOVED)
  await behind.compare()
  await behind.change(ZERO)
  await ahead.compare()
  t.same(ahead.shift.shares, ZERO)
})

t.test(
  'a change after a comparison is the last one, although a clock was ahead and no message arrived',
  async (t) => {
    const { start } = createStore(t)
    const ahead = await start({ wallNow: () => 9000 })
    const behind = await start({ wallNow: () => 1000 })
    ahead.shift.change(MOVED)
    await ahead.compareNow()
    await behind.compareNow()
    behind.shift.change({ reads: 0.3, writes: 0.3 })
    await behind.compareNow()
    await ahead.compareNow()
    for (const { shift } of [ahead, behind]) t.same(shift.shares, { reads: 0.3, writes: 0.3 })
  },
)

t.test('shares that change while a comparison writes are written by the next comparison', async (t) => {
  const { values, start, startShift } = createStore(t)
  const replica = await start()
  const { write } = values
  const next: Promise<void>[] = []
  Object.assign(values, {
    write: async (...written: Parameters<SharedValues['write']>) => {
      if (next.length === 0) {
        replica.shift.change(MOVED)
        next.push(replica.compareNow())
      }
      return write(...written)
    },
  })
  replica.shift.change({ reads: 0.3, writes: 0.3 })
  await replica.compareNow()
  await Promise.all(next)
  t.same((await startShift()).shares, MOVED)
})

t.test('a command, a return and the change of another process are stored at once', async (t) => {
  const failed = { operation: undefined, isFailed: true, readMs: null }
  const limits = { errors: 0.05, slower: null, differences: null }
  for (const change of [
    (shift: Shift) => shift.change(MOVED),
    (shift: Shift) => shift.adopt(RETURNED),
    (shift: Shift) => {
      for (let count = 0; count < 20; count += 1) shift.record('new', failed)
    },
  ]) {
    const { start, startShift } = createStore(t)
    const { shift } = await start({ limits })
    change(shift)
    await new Promise(setImmediate)
    t.same((await startShift()).state, shift.state)
  }
})

t.test('without Redis, a comparison resolves at once', async (t) => {
  const component = createSharedShifts({
    engines: [],
    openValues: null,
    wallNow: () => 1000,
    log: { info: () => undefined, warn: () => undefined },
  })
  t.equal(await component.compare(), undefined)
})

t.test('an older value in Redis, and a lost one, is replaced', async (t) => {
  const { values, start, startShift } = createStore(t)
  const replica = await start()
  await replica.change(MOVED)
  const old = new Map(values.texts)
  await replica.change(ZERO)
  for (const [name, text] of old) values.texts.set(name, text)
  await replica.compare()
  t.same(replica.shift.shares, ZERO)
  t.same((await startShift()).shares, ZERO)
  values.texts.clear()
  await replica.compare()
  t.same((await startShift()).shares, ZERO)
})

t.test('each shift in the file has its own shares', async (t) => {
  const { start, startShift } = createStore(t)
  const first = await start()
  await first.change(MOVED)
  const changed = await start({ reads: 0.2 })
  t.same(changed.shift.shares, { reads: 0.2, writes: 0 })
  await changed.change({ reads: 0.3, writes: 0.3 })
  await first.compare()
  t.same(first.shift.shares, MOVED)
  t.same((await startShift({ reads: 0.2 })).shares, { reads: 0.3, writes: 0.3 })
  t.same((await startShift()).shares, MOVED)
})

t.test(
  'during a rollout, a return at an old replica applies to new replicas, also to later ones',
  async (t) => {
    const { start } = createStore(t)
    const old = await start()
    const changed = await start({ reads: 0.5 })
    await old.adopt(RETURNED)
    await changed.compare()
    t.same(changed.shift.state, RETURNED)
    for (const reads of [0.5, FILE.reads]) {
      const later = await start({ reads })
      t.same(later.shift.state, RETURNED)
      await compareInTurn(later, old, changed)
      t.same([old.shift.state, changed.shift.state], [RETURNED, RETURNED])
    }
  },
)

t.test(
  'during a rollout, a return at a new replica applies to old replicas, also to later ones',
  async (t) => {
    const { start, startShift } = createStore(t)
    const old = await start()
    await old.change(MOVED)
    const changed = await start({ reads: 0.5 })
    const returned = { ...RETURNED, knownMs: 1000 }
    await changed.adopt(returned)
    t.same((await startShift()).state, returned, 'a replica that starts before an old one has read it')
    await old.compare()
    t.same(old.shift.state, returned)
    t.same((await startShift({ reads: 0.5 })).state, returned)
  },
)

t.test('a return reaches a new replica that has received it as a message and one that has not', async (t) => {
  const { start, startShift } = createStore(t)
  const old = await start()
  const changed = await start({ reads: 0.5 })
  const other = await start({ reads: 0.5 })
  for (const { shift } of [old, changed]) shift.adopt(RETURNED)
  await compareInTurn(changed, old, other)
  t.same(other.shift.state, RETURNED)
  t.same((await startShift({ reads: 0.5 })).state, RETURNED)
})

t.test(
  'a new file begins with its shares although requests had returned before, and may raise them',
  async (t) => {
    const { start } = createStore(t)
    const old = await start()
    await old.adopt(RETURNED)
    const changed = await start({ reads: 0.5 })
    await changed.compare()
    t.same(changed.shift.shares, { reads: 0.5, writes: 0 })
    await changed.change(MOVED)
    await compareInTurn(old, changed)
    t.same([changed.shift.shares, old.shift.shares], [MOVED, ZERO])
    const later = await start({ reads: 0.5 })
    await later.compare()
    t.same(later.shift.shares, MOVED)
  },
)

t.test('a reload of other settings does not apply a return that the file has replaced', async (t) => {
  const { start } = createStore(t)
  const old = await start()
  await old.adopt(RETURNED)
  const changed = await start({ reads: 0.5 })
  const { state } = changed.shift
  const reloaded = await start({ reads: 0.5, isTakenOver: true, state })
  await reloaded.compare()
  t.same(reloaded.shift.shares, { reads: 0.5, writes: 0 })
})

t.test(
  'after a rollback, a return of the new replicas applies instead of the last shares of the old ones',
  async (t) => {
    const { start, startShift } = createStore(t)
    const old = await start()
    old.shift.change(MOVED)
    await old.close()
    const changed = await start({ reads: 0.5 })
    const returned = { ...RETURNED, knownMs: 0 }
    changed.shift.adopt(returned)
    await changed.close()
    const back = await start()
    t.same(back.shift.state, returned)
    await back.change(MOVED)
    t.same((await startShift()).shares, MOVED)
  },
)

t.test(
  'shares expire an hour after the last replica with the file, and shares of zero after a day',
  async (t) => {
    const { values, start } = createStore(t)
    const replica = await start()
    await replica.change(MOVED)
    t.same([...values.keepMs.values()], [3_600_000])
    const [name = ''] = values.keepMs.keys()
    t.match(name, /^default \S{43}$/)
    await replica.change(ZERO)
    t.same(
      values.keepMs,
      new Map([
        [name, 24 * 3_600_000],
        ['default', 24 * 3_600_000],
      ]),
    )
  },
)

t.test('groups that are shifted in the other direction do not apply a return', async (t) => {
  const { start } = createStore(t)
  const old = await start()
  const other = await start({ to: 'old' })
  await old.adopt(RETURNED)
  await other.compare()
  t.same(other.shift.shares, FILE)
})

t.test('a process whose file changes and changes back begins with the shares of the file', async (t) => {
  const { start } = createStore(t)
  const first = await start()
  await first.change(MOVED)
  const { changedAtMs } = first.shift.state
  const changed = await start({ reads: 0.2 })
  await changed.adopt(RETURNED)
  const back = await start({ formerMs: changedAtMs })
  t.same(back.shift.shares, FILE)
  await compareInTurn(back, first)
  t.same(first.shift.shares, FILE, 'replicas with the same file have the same shares')
})

t.test(
  'a process whose file changes back begins with its shares if Redis has only a zero that it knew',
  async (t) => {
    const { values, start, startShift } = createStore(t)
    const first = await start()
    await first.change(ZERO)
    const formerMs = first.shift.state.changedAtMs
    for (const name of values.texts.keys()) if (name !== 'default') values.texts.delete(name)
    t.same((await startShift({ formerMs })).shares, FILE)
  },
)

t.test('a process whose file changes back has a change that others have made since then', async (t) => {
  const { start, startShift } = createStore(t)
  const other = await start()
  other.shift.change(MOVED)
  const formerMs = other.shift.state.changedAtMs
  await other.change(ZERO)
  t.same((await startShift({ formerMs })).shares, ZERO)
})

t.test('a return is not replaced by a change that was made without knowledge of it', async (t) => {
  for (const ahead of [9000, 10]) {
    const { values, start } = createStore(t)
    const one = await start({ wallNow: () => 1000 })
    const other = await start({ wallNow: () => ahead })
    values.isUp = false
    one.shift.change(ZERO)
    other.shift.change(MOVED)
    await new Promise(setImmediate)
    values.isUp = true
    for (const replica of ahead > 1000 ? [other, one, other] : [one, other, one]) await replica.compare()
    t.same([one.shift.shares, other.shift.shares], [ZERO, ZERO], `the other clock is at ${ahead}`)
    await other.change(MOVED)
    await one.compare()
    t.same(one.shift.shares, MOVED, 'a change that knew the return replaces it')
  }
})

t.test('changes during an outage of Redis: the later time wins when it responds again', async (t) => {
  const { values, start } = createStore(t)
  let nowMs = 1000
  const one = await start({ wallNow: () => nowMs })
  const other = await start({ wallNow: () => nowMs })
  values.isUp = false
  one.shift.change({ reads: 0.3, writes: 0.3 })
  nowMs = 2000
  other.shift.change(MOVED)
  await one.compare()
  values.isUp = true
  await compareInTurn(other, one)
  t.same([one.shift.shares, other.shift.shares], [MOVED, MOVED])
})

t.test('replicas that return at the same time choose the same state, and then only compare it', async (t) => {
  for (const reads of [FILE.reads, 0.5]) {
    const { values, start } = createStore(t)
    const one = await start()
    const other = await start({ reads })
    values.isUp = false
    one.shift.adopt(RETURNED)
    other.shift.adopt({ ...RETURNED, knownMs: 5 })
    await compareInTurn(one, other)
    values.isUp = true
    await compareInTurn(one, other, one)
    t.same(one.shift.state, other.shift.state)
    const { read, writes } = values
    let readCount = 0
    Object.assign(values, {
      read: async (name: string) => {
        readCount += 1
        // A replica that compares without end would not let the test end.
        return readCount > 20 ? 'unavailable' : read(name)
      },
    })
    await compareInTurn(one, other)
    t.same([values.writes, readCount], [writes, 4])
  }
})

t.test('a reload of other settings applies a return that the process has not read before', async (t) => {
  const { start, startShift } = createStore(t)
  const old = await start()
  const { state } = await startShift({ reads: 0.5 })
  await old.adopt(RETURNED)
  t.same((await startShift({ reads: 0.5, isTakenOver: true, state })).state, RETURNED)
})

t.test('a reload of other settings does not end the shares of replicas with another shift', async (t) => {
  const { values, start } = createStore(t)
  const first = await start()
  await first.change(MOVED)
  const { writes } = values
  const reloaded = await start({ reads: 0.2, isTakenOver: true })
  t.equal(values.writes, writes)
  t.same(reloaded.shift.shares, { reads: 0.2, writes: 0 })
})

t.test('without Redis the file applies, with a warning, until Redis responds', async (t) => {
  const { values, start } = createStore(t)
  const first = await start()
  await first.change(MOVED)
  values.isUp = false
  const second = await start()
  t.same(second.shift.shares, FILE)
  t.match(second.warnings, [/could not be read from Redis/])
  await first.compare()
  t.same(first.shift.shares, MOVED)
  values.isUp = true
  await second.compare()
  t.same(second.shift.shares, MOVED)
})

t.test('unchanged shares are written again before they expire', async (t) => {
  const { values, start } = createStore(t)
  let nowMs = 1000
  const replica = await start({ wallNow: () => nowMs })
  await replica.change(MOVED)
  await replica.compare()
  t.equal(values.writes, 1)
  nowMs += SHARED_SHIFT_TIMES_MS.renew + 1
  await compareInTurn(replica, replica)
  t.equal(values.writes, 2)
})

t.test(
  'a stored value of another form has no effect and is logged once, until a change replaces it',
  async (t) => {
    const { values, start } = createStore(t)
    const writer = await start()
    await writer.change(MOVED)
    const [[name = '', stored = '{}'] = []] = values.texts
    const valid = JSON.parse(stored)
    for (const text of [
      '',
      '{',
      '[]',
      '{"settings":"x"}',
      JSON.stringify({ ...valid, more: 1 }),
      JSON.stringify({ ...valid, state: { ...valid.state, more: 1 } }),
      JSON.stringify({ ...valid, to: undefined }),
      // The form of a release that had one value for all settings.
      JSON.stringify({ settings: valid.settings, state: { shares: ZERO, returned: null, changedAtMs: 5 } }),
    ])
      for (const at of [name, 'default']) {
        values.texts.clear()
        values.texts.set(at, text)
        const replica = await start()
        await replica.compare()
        t.same(replica.shift.shares, FILE, `${at} ${text}`)
        t.match(replica.warnings, [/^shares of the groups in Redis have another form/])
        t.equal(values.texts.get(at), text)
        await replica.change(ZERO)
        t.same(JSON.parse(values.texts.get(at) ?? '').state, replica.shift.state)
      }
  },
)

t.test('a stored value that no key has signed has no effect and is logged', async (t) => {
  const { values, start } = createStore(t)
  Object.assign(values, { read: async () => 'unsigned' })
  const replica = await start()
  await replica.compare()
  t.same(replica.shift.shares, FILE)
  t.match(replica.warnings, [/are not signed by a key of cache.signingKeys/])
})

/** Returns the share of the reads that the new group gets. */
function shareOf({ metric }: Pick<Reloadable, 'metric'>): Promise<number | null> {
  return metric('gateway_shift_share{engine="default",group="new",kind="reads"}')
}

/** Sends a command that changes the shares. */
function command({ running }: Pick<Reloadable, 'running'>, shares: object): Promise<Response> {
  return fetch(`${running.adminAddress}/shift`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-requested-by': 'test' },
    body: JSON.stringify(shares),
  })
}

/** Starts a Redis and a node in two groups. Returns the settings of a gateway whose file has a share of the reads. */
async function startRedisWithNodes(t: Test, cache: object = {}) {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const node = await startNode(t, (_request, response) => response.end('{}'))
  const nodes = ['old', 'new'].map((group) => ({ url: `${node.url}/${group}`, group }))
  const settingsWith = (reads: string) => ({
    engines: { default: { nodes, shift: { to: 'new', reads } } },
    health: { probe: false },
    cache: { redis: redis.url, ...cache },
  })
  return { redis, settingsWith }
}

for (const signingKeys of [[], ['a key of at least thirty-two bytes, for signatures']])
  t.test(
    `a restarted replica has the shares of the others, with ${signingKeys.length} signing keys`,
    { skip: redisSkip },
    async (t) => {
      const { settingsWith } = await startRedisWithNodes(t, { signingKeys })
      const first = await startReloadable(t, settingsWith('10%'))
      t.equal(await shareOf(first), 0.1)
      await command(first, { reads: '50%' })
      await first.running.drain()
      const restarted = await startReloadable(t, settingsWith('10%'))
      t.equal(await shareOf(restarted), 0.5, 'from the first request on')
      await restarted.reload(settingsWith('20%'))
      t.equal(await shareOf(restarted), 0.2)
      await restarted.reload(settingsWith('10%'))
      await until(async () => (await shareOf(restarted)) === 0.1)
    },
  )

t.test(
  'replicas with two files and a Redis that restarts: shares above zero stay apart, and zero applies to all',
  { skip: redisSkip },
  async (t) => {
    const { redis, settingsWith } = await startRedisWithNodes(t)
    const startWith = (reads: string) => startReloadable(t, settingsWith(reads))
    const [former, changed] = [await startWith('10%'), await startWith('20%')]
    await command(former, { reads: '50%', writes: '0%' })
    t.equal(await shareOf(await startWith('10%')), 0.5)
    t.equal(await shareOf(changed), 0.2)
    await command(former, { reads: '0%', writes: '0%' })
    await until(async () => (await shareOf(changed)) === 0)
    const later = await startWith('20%')
    t.equal(await shareOf(later), 0)
    await command(changed, { reads: '40%', writes: '0%' })
    await until(async () => (await shareOf(later)) === 0.4)
    t.equal(await shareOf(former), 0)
    await redis.stop()
    await command(later, { reads: '0%', writes: '0%' })
    t.same([await shareOf(later), await shareOf(changed)], [0, 0.4], 'without Redis, replicas change alone')
    const restarted = await startRedis({ port: redis.port })
    t.teardown(() => restarted.stop())
    await until(async () => (await shareOf(changed)) === 0)
    t.equal(await shareOf(await startWith('20%')), 0, 'the empty Redis has the shares again')
  },
)
