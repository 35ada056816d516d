import t, { type Test } from 'tap'
import { createSharedShifts, SHARED_SHIFT_TIMES_MS } from '../../src/assembly/shared-shifts.ts'
import type { ReturnLimits } from '../../src/proxy/nodes/group-comparison.ts'
import { Shift, type ShiftShares } from '../../src/proxy/nodes/shift.ts'
import type { SharedValues } from '../../src/redis/shared-values.ts'
import { startNode } from '../support/fake-engine.ts'
import { type Reloadable, startReloadable } from '../support/reloadable.ts'
import { redisSkip } from '../support/requirements.ts'
import { startRedis } from '../support/redis.ts'
import { until } from '../support/cache-harness.ts'

const FILE = { reads: 0.1, writes: 0 }
const MOVED = { reads: 0.5, writes: 0.25 }
const ZERO = { reads: 0, writes: 0 }
const LIMITS = { errors: 0.05, slower: null, differences: null }

/** Values that stay in the memory of the test. */
class StoredValues implements SharedValues {
  readonly texts = new Map<string, string>()
  readonly keepMs = new Map<string, number>()
  isUp = true
  isSigned = true
  writes = 0
  /** Called before a value is replaced. */
  beforeReplace: () => Promise<void> | void = () => undefined

  readonly read: SharedValues['read'] = async (name) => {
    const text = this.texts.get(name)
    if (!this.isUp) return 'unavailable'
    return text === undefined ? null : { text: this.isSigned ? text : null, stored: Buffer.from(text) }
  }

  readonly replace: SharedValues['replace'] = async (name, previous, { text, keepMs }) => {
    await this.beforeReplace()
    if (!this.isUp) return 'unavailable'
    if (previous?.stored.toString() !== this.texts.get(name)) return 'changed'
    this.writes += 1
    this.texts.set(name, text)
    this.keepMs.set(name, keepMs)
    return 'replaced'
  }

  readonly close = () => undefined
}

interface ReplicaOptions {
  readonly shares?: ShiftShares
  readonly to?: string
  readonly limits?: ReturnLimits
  readonly former?: Shift
  readonly callers?: readonly string[]
  readonly now?: () => number
}

/** Starts the shares of a replica. `compare` compares them with the stored ones, as the timer does. */
async function startReplica(t: Test, values: StoredValues, options: ReplicaOptions = {}) {
  const { shares = FILE, to = 'new', limits = null, former = null, callers = null, now = () => 0 } = options
  const shift = new Shift(
    {
      ...shares,
      to,
      from: to === 'new' ? 'old' : 'new',
      operations: null,
      callers,
      limits,
      former,
      onReturn: () => undefined,
    },
    { random: () => 0.5, now },
  )
  const warnings: string[] = []
  const timer = { compare: (): void => undefined }
  const component = createSharedShifts({
    openValues: ({ onReady, onAway }) => {
      timer.compare = onReady
      setImmediate(values.isUp ? onReady : onAway)
      return values
    },
    now,
    log: {
      info: () => undefined,
      warn: (_details: object, message?: string) => void warnings.push(message ?? ''),
    },
  })
  const { change, isShared } = component.add('default', shift)
  await component.start?.()
  t.teardown(() => component.stop?.())
  return {
    shift,
    warnings,
    change,
    isShared,
    compare: async () => {
      // A comparison that began before is not repeated.
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
      timer.compare()
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
    },
    /** Lets the group fail until all requests return. */
    fail: async () => {
      for (let count = 0; count < 20; count += 1)
        shift.record('new', { operation: undefined, caller: '', isFailed: true, readMs: null })
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
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

type Replica = Awaited<ReturnType<typeof startReplica>>

/** Compares the shares of replicas, one after another. */
async function compareInTurn(...replicas: readonly Pick<Replica, 'compare'>[]): Promise<void> {
  for (const replica of replicas) await replica.compare()
}

t.test('a replica that starts has the shares of the others, and not those of the file', async (t) => {
  const { values, start } = createStore(t)
  const first = await start()
  t.same([values.writes, first.shift.state.revision], [0, 0], 'shares of the file are not stored')
  await first.change(MOVED)
  const second = await start({ shares: { reads: 0.9, writes: 0.9 } })
  t.same(second.shift.state, { shares: MOVED, returned: null, revision: 1 })
  await second.change(ZERO)
  await first.compare()
  t.same(first.shift.state, { shares: ZERO, returned: null, revision: 2 })
  t.same([first.isShared(), second.isShared(), second.warnings], [true, true, []])
})

t.test('a command changes only the shares that it names, of the last change that Redis has', async (t) => {
  const { start } = createStore(t)
  const first = await start()
  const second = await start()
  await first.change(MOVED)
  await second.change({ writes: 1 })
  t.same(second.shift.state, { shares: { reads: 0.5, writes: 1 }, returned: null, revision: 2 })
})

t.test('of two commands at once, both have a revision, and all replicas follow the later one', async (t) => {
  const { values, start } = createStore(t)
  const [one, other] = [await start(), await start()]
  values.beforeReplace = async () => {
    values.beforeReplace = () => undefined
    await other.change({ reads: 0.3, writes: 0.3 })
  }
  await one.change(MOVED)
  t.same(one.shift.state, { shares: MOVED, returned: null, revision: 2 })
  await other.compare()
  t.same(other.shift.state, one.shift.state)
})

t.test('a return is stored at once, with its reason', async (t) => {
  const { start, startShift } = createStore(t)
  const first = await start({ limits: LIMITS, shares: { reads: 1, writes: 1 } })
  await first.fail()
  const state = { shares: ZERO, returned: 'errors', revision: 1 }
  t.same((await startShift()).state, state)
  t.match(
    first.shift,
    { state, finding: { reason: 'errors' } },
    'the replica that returned keeps its finding',
  )
})

t.test('a process stores its last change when it ends', async (t) => {
  const { values, start, startShift } = createStore(t)
  const first = await start()
  values.isUp = false
  await first.change(MOVED)
  values.isUp = true
  await first.close()
  t.same((await startShift()).shares, MOVED)
})

t.test('without Redis a change applies to one replica only, and this is known', async (t) => {
  const { values, start } = createStore(t)
  const [one, other] = [await start(), await start()]
  values.isUp = false
  await one.change(MOVED)
  t.same([one.shift.shares, one.isShared()], [MOVED, false])
  await compareInTurn(one, other)
  t.same([other.shift.shares, other.isShared()], [FILE, false])
  values.isUp = true
  await compareInTurn(one, other)
  t.same([other.shift.shares, one.isShared(), other.isShared()], [MOVED, true, true])
})

t.test('a replica that starts without Redis has the shares of the file, with a warning', async (t) => {
  const { values, start } = createStore(t)
  await (await start()).change(MOVED)
  values.isUp = false
  const late = await start()
  t.same(late.shift.shares, FILE)
  t.match(late.warnings, [/could not be read from Redis/])
  await late.change({ reads: 0.2 })
  values.isUp = true
  await late.compare()
  t.same(late.shift.shares, MOVED, 'a change of the same revision that Redis already has')
})

t.test('a Redis that has lost its data gets the highest revision back', async (t) => {
  const { values, start, startShift } = createStore(t)
  const [one, other] = [await start(), await start()]
  await one.change({ reads: 0.3 })
  await other.compare()
  await one.change(MOVED)
  values.texts.clear()
  await compareInTurn(other, one, other)
  t.same([one.shift.state, other.shift.state], [one.shift.state, one.shift.state])
  t.same((await startShift()).state, { shares: MOVED, returned: null, revision: 2 })
})

t.test('a Redis with an older backup gets the highest revision back', async (t) => {
  const { values, start, startShift } = createStore(t)
  const one = await start()
  await one.change(MOVED)
  const before = new Map(values.texts)
  await one.change(ZERO)
  for (const [name, text] of before) values.texts.set(name, text)
  await one.compare()
  t.same((await startShift()).shares, ZERO)
})

t.test('shares of zero replace a change that was made without knowledge of them', async (t) => {
  for (const isReturn of [true, false]) {
    const { values, start } = createStore(t)
    const [one, other] = [
      await start({ limits: LIMITS, shares: { reads: 1, writes: 1 } }),
      await start({ shares: { reads: 1, writes: 1 } }),
    ]
    values.isUp = false
    await (isReturn ? one.fail() : one.change(ZERO))
    values.isUp = true
    await other.change(MOVED)
    await other.change({ reads: 0.75 })
    await compareInTurn(one, other)
    t.match(other.shift.state, { shares: ZERO, revision: 3, returned: isReturn ? 'errors' : null })
    t.same(one.shift.state, other.shift.state)
    t.equal(one.shift.finding?.reason ?? null, isReturn ? 'errors' : null)
    await other.change(MOVED)
    await one.compare()
    t.same(one.shift.state, { shares: MOVED, returned: null, revision: 4 }, 'a later command is followed')
  }
})

t.test('two replicas that return at the same time agree, and then only compare', async (t) => {
  const { values, start } = createStore(t)
  const begin = { limits: LIMITS, shares: { reads: 1, writes: 1 } }
  const [one, other] = [await start(begin), await start(begin)]
  values.isUp = false
  await one.fail()
  await other.change(ZERO)
  values.isUp = true
  await compareInTurn(one, other, one)
  t.same(one.shift.state, other.shift.state)
  const { writes } = values
  await compareInTurn(one, other, one, other)
  t.equal(values.writes, writes)
})

t.test('a changed file does not end the last change, in replicas that start and in a reload', async (t) => {
  const { start } = createStore(t)
  const first = await start()
  await first.change(MOVED)
  const started = await start({ shares: { reads: 0.9, writes: 0.9 } })
  t.same(started.shift.shares, MOVED)
  const reloaded = await start({ shares: { reads: 0.9, writes: 0.9 }, former: first.shift })
  t.same(reloaded.shift.state, first.shift.state)
})

t.test('a return that Redis lacks is still stored after a reload', async (t) => {
  const { values, start } = createStore(t)
  const begin = { limits: LIMITS, shares: { reads: 1, writes: 1 } }
  const [first, other] = [await start(begin), await start(begin)]
  values.isUp = false
  await first.fail()
  values.isUp = true
  await other.change(MOVED)
  await other.change({ reads: 0.75 })
  await start({ ...begin, former: first.shift })
  await other.compare()
  t.same(other.shift.shares, ZERO)
})

t.test('groups that are shifted in the other direction have the shares of their file', async (t) => {
  const { values, start } = createStore(t)
  const first = await start()
  await first.change(MOVED)
  await first.change(ZERO)
  const other = await start({ to: 'old' })
  t.same(other.shift.state, { shares: FILE, returned: null, revision: 0 })
  await other.change({ reads: 0.2 })
  t.same(other.shift.state, { shares: { reads: 0.2, writes: 0 }, returned: null, revision: 3 })
  const { writes } = values
  await compareInTurn(first, other, first)
  t.same([first.shift.shares, values.writes, first.isShared()], [ZERO, writes, false])
})

t.test('a share of some callers does not apply to all of them, and a return of some does', async (t) => {
  const { start } = createStore(t)
  const trial = await start({ callers: ['tester'], limits: LIMITS })
  await trial.change({ reads: 1, writes: 1 })
  for (const former of [undefined, trial.shift]) {
    const all = await start(former === undefined ? {} : { former })
    t.same(all.shift.state, { shares: FILE, returned: null, revision: 0 })
  }
  const all = await start()
  await trial.fail()
  await all.compare()
  const returned = { shares: ZERO, returned: 'errors', revision: 2 }
  t.same(all.shift.state, returned)
  t.same((await start({ former: trial.shift })).shift.state, returned)
  await all.change(MOVED)
  await trial.compare()
  t.same([trial.shift.state, trial.isShared()], [returned, false])
})

t.test('shares are kept for an hour, and shares of zero for a day', async (t) => {
  const { values, start } = createStore(t)
  const replica = await start()
  await replica.change(MOVED)
  t.same(values.keepMs.get('default'), 3_600_000)
  await replica.change(ZERO)
  t.same(values.keepMs.get('default'), 24 * 3_600_000)
  t.equal(values.keepMs.size, 1, 'an engine has one record')
})

t.test('unchanged shares are written again before they expire', async (t) => {
  const { values, start } = createStore(t)
  let nowMs = 0
  const replica = await start({ now: () => nowMs })
  await replica.change(MOVED)
  await replica.compare()
  t.equal(values.writes, 1)
  nowMs += SHARED_SHIFT_TIMES_MS.renew + 1
  await compareInTurn(replica, replica)
  t.same([values.writes, replica.shift.state.revision], [2, 1])
})

const RECORD = {
  to: 'new',
  from: 'old',
  scope: '',
  state: { shares: { reads: 1, writes: 1 }, returned: null, revision: 7 },
}

t.test(
  'a stored value of another form has no effect, and a change of this process replaces it',
  async (t) => {
    const { state } = RECORD
    for (const record of [
      '',
      '{',
      'null',
      '[]',
      { ...RECORD, more: 1 },
      { ...RECORD, to: undefined },
      { ...RECORD, from: 1 },
      { ...RECORD, scope: null },
      { ...RECORD, state: null },
      { ...RECORD, state: { ...state, more: 1 } },
      { ...RECORD, state: { ...state, shares: { reads: 1 } } },
      { ...RECORD, state: { ...state, shares: { reads: '1', writes: 1 } } },
      { ...RECORD, state: { ...state, shares: { reads: 1.01, writes: 1 } } },
      { ...RECORD, state: { ...state, shares: { reads: 1, writes: -0.1 } } },
      { ...RECORD, state: { ...state, returned: 'another reason' } },
      { ...RECORD, state: { ...state, returned: undefined } },
      { ...RECORD, state: { ...state, revision: 0 } },
      { ...RECORD, state: { ...state, revision: 1.5 } },
      // No further change would have a safe integer.
      { ...RECORD, state: { ...state, revision: Number.MAX_SAFE_INTEGER } },
    ]) {
      const { values, start } = createStore(t)
      const text = typeof record === 'string' ? record : JSON.stringify(record)
      values.texts.set('default', text)
      const replica = await start()
      await compareInTurn(replica, replica)
      t.same([replica.shift.shares, values.texts.get('default')], [FILE, text], text)
      t.match(replica.warnings, [/^the shares of the groups in Redis have another form/])
      await replica.change(MOVED)
      t.same(JSON.parse(values.texts.get('default') ?? '').state, replica.shift.state)
      values.texts.set('default', text)
      await replica.compare()
      t.equal(
        values.texts.get('default'),
        text,
        'two releases do not replace the values of each other without end',
      )
      t.equal(replica.isShared(), false)
    }
  },
)

t.test('a stored value that no key has signed has no effect, and is replaced', async (t) => {
  const { values, start } = createStore(t)
  values.texts.set('default', JSON.stringify(RECORD))
  values.isSigned = false
  const replica = await start()
  t.same(replica.shift.shares, FILE)
  t.match(replica.warnings, [/are not signed by a key of cache.signingKeys/])
  await replica.change(MOVED)
  values.texts.set('default', 'invented')
  await replica.compare()
  t.match(JSON.parse(values.texts.get('default') ?? ''), { state: { shares: MOVED, revision: 1 } })
})

t.test('without a configured Redis, each process has its own shares', async (t) => {
  const component = createSharedShifts({
    openValues: null,
    now: () => 0,
    log: { info: () => undefined, warn: () => undefined },
  })
  const shift = new Shift(
    {
      ...FILE,
      to: 'new',
      from: 'old',
      operations: null,
      callers: null,
      limits: null,
      onReturn: () => undefined,
    },
    { random: () => 0.5, now: () => 0 },
  )
  const { change, isShared } = component.add('default', shift)
  await component.start?.()
  await change({ writes: 0.5 })
  t.same(shift.state, { shares: { reads: 0.1, writes: 0.5 }, returned: null, revision: 1 })
  t.equal(isShared(), null)
  await component.close?.()
})

/** Returns the share of the reads that the new group gets. */
function shareOf({ metric }: Pick<Reloadable, 'metric'>): Promise<number | null> {
  return metric('gateway_shift_share{engine="default",group="new",kind="reads"}')
}

/** Sends a command that changes the shares. Returns the response. */
async function command({ running }: Pick<Reloadable, 'running'>, shares: object): Promise<unknown> {
  const response = await fetch(`${running.adminAddress}/shift`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-requested-by': 'test' },
    body: JSON.stringify(shares),
  })
  return response.json()
}

/** Starts a Redis and a node in two groups. Returns the settings of a gateway whose file has a share of the reads. */
async function startRedisWithNodes(t: Test, cache: object = {}) {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const node = await startNode(t, (_request, response) => response.end('{}'))
  const nodes = ['old', 'new'].map((group) => ({ url: `${node.url}/${group}`, group }))
  const settingsWith = (reads: string, more: readonly object[] = []) => ({
    engines: { default: { nodes: [...nodes, ...more], shift: { to: 'new', reads } } },
    health: { probe: false },
    cache: { redis: redis.url, ...cache },
  })
  return { redis, settingsWith, url: node.url }
}

for (const signingKeys of [[], ['a key of at least thirty-two bytes, for signatures']])
  t.test(
    `replicas with other nodes and another file have the last change, with ${signingKeys.length} signing keys`,
    { skip: redisSkip },
    async (t) => {
      const { settingsWith, url } = await startRedisWithNodes(t, { signingKeys })
      const first = await startReloadable(t, settingsWith('10%'))
      t.equal(await shareOf(first), 0.1)
      t.match(await command(first, { reads: '50%' }), { reads: 0.5, revision: 1, shared: true })
      const second = await startReloadable(t, settingsWith('20%', [{ url: `${url}/further`, group: 'new' }]))
      t.equal(await shareOf(second), 0.5, 'from the first request on')
      await command(second, { reads: '0%', writes: '0%' })
      await until(async () => (await shareOf(first)) === 0)
      await first.running.drain()
      const restarted = await startReloadable(t, settingsWith('10%'))
      t.equal(await shareOf(restarted), 0)
      await restarted.reload(settingsWith('30%'))
      t.equal(await shareOf(restarted), 0, 'a changed file does not end a return')
    },
  )

t.test('a Redis that restarts without its data', { skip: redisSkip }, async (t) => {
  const { redis, settingsWith } = await startRedisWithNodes(t)
  const startWith = (reads: string) => startReloadable(t, settingsWith(reads))
  const [one, other] = [await startWith('10%'), await startWith('20%')]
  await command(one, { reads: '50%' })
  await until(async () => (await shareOf(other)) === 0.5)
  await redis.stop()
  await until(async () => (await one.metric('gateway_redis_up')) === 0)
  t.match(await command(other, { reads: '0%' }), { reads: 0, revision: 2, shared: false })
  t.equal(await shareOf(one), 0.5, 'without Redis, replicas change alone')
  const cutOff = await startWith('30%')
  t.equal(await shareOf(cutOff), 0.3, 'a replica that starts without Redis')
  const restarted = await startRedis({ port: redis.port })
  t.teardown(() => restarted.stop())
  for (const replica of [one, cutOff]) await until(async () => (await shareOf(replica)) === 0)
  t.equal(await shareOf(await startWith('20%')), 0, 'the empty Redis has the shares again')
})
