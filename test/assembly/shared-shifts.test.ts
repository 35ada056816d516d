import t, { type Test } from 'tap'
import { createSharedShifts, SHARED_SHIFT_TIMES_MS } from '../../src/assembly/shared-shifts.ts'
import { Shift } from '../../src/proxy/nodes/shift.ts'
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

/** Values that stay in the memory of the test. */
class StoredValues implements SharedValues {
  readonly texts = new Map<string, string>()
  isUp = true
  writes = 0

  readonly read: SharedValues['read'] = async (name) => {
    const text = this.texts.get(name)
    if (!this.isUp) return 'unavailable'
    return text === undefined ? null : { text }
  }

  readonly write: SharedValues['write'] = async (name, text) => {
    if (!this.isUp) return false
    this.writes += 1
    this.texts.set(name, text)
    return true
  }

  readonly close = () => undefined
}

interface ReplicaOptions {
  /** The share of reads in the configuration. */
  readonly reads?: number
  readonly wallNow?: () => number
  readonly isTakenOver?: boolean
}

/** Starts the shares of a replica. `compare` compares them with the stored ones, as the timer does. */
async function startReplica(
  t: Test,
  values: StoredValues,
  { reads = FILE.reads, wallNow = () => 1000, isTakenOver = false }: ReplicaOptions = {},
) {
  const settings = { ...SETTINGS, reads }
  const options = { ...settings, from: 'old', limits: null, onReturn: () => undefined }
  const shift = new Shift(options, { random: () => 0.5, now: () => 0, wallNow })
  const warnings: string[] = []
  const timer = { compare: (): void => undefined }
  const component = createSharedShifts({
    engines: [{ name: 'default', settings, shift, isTakenOver }],
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
  return {
    shift,
    warnings,
    compare: async () => {
      timer.compare()
      await new Promise(setImmediate)
    },
    close: async () => {
      component.stop?.()
      await component.close?.()
    },
  }
}

t.test('a replica that starts has the shares of the others, and not those of the file', async (t) => {
  const values = new StoredValues()
  const first = await startReplica(t, values)
  t.equal(values.writes, 0, 'shares of the file are not stored')
  first.shift.change(MOVED)
  await first.compare()
  const second = await startReplica(t, values)
  t.same(second.shift.shares, MOVED)
  second.shift.change({ reads: 0, writes: 0 })
  await second.compare()
  await first.compare()
  t.same(first.shift.state, second.shift.state)
  t.same(second.warnings, [])
})

t.test('a process stores its last change when it ends', async (t) => {
  const values = new StoredValues()
  const first = await startReplica(t, values)
  first.shift.change(MOVED)
  await first.close()
  t.same((await startReplica(t, values)).shift.shares, MOVED)
})

t.test('the reason of a return is stored too', async (t) => {
  const values = new StoredValues()
  const first = await startReplica(t, values)
  first.shift.adopt({ shares: { reads: 0, writes: 0 }, returned: 'errors', changedAtMs: 7 })
  await first.compare()
  t.equal((await startReplica(t, values)).shift.returned, 'errors')
})

t.test('the last change wins, also if the clock of its replica is behind', async (t) => {
  const values = new StoredValues()
  const ahead = await startReplica(t, values, { wallNow: () => 9000 })
  const behind = await startReplica(t, values, { wallNow: () => 1000 })
  ahead.shift.change(MOVED)
  await ahead.compare()
  await behind.compare()
  behind.shift.change({ reads: 0, writes: 0 })
  await behind.compare()
  await ahead.compare()
  t.same(ahead.shift.shares, { reads: 0, writes: 0 })
})

t.test('an older value in Redis, and a lost one, is replaced', async (t) => {
  const values = new StoredValues()
  const replica = await startReplica(t, values)
  replica.shift.change(MOVED)
  await replica.compare()
  const old = new Map(values.texts)
  replica.shift.change({ reads: 0, writes: 0 })
  await replica.compare()
  for (const [name, text] of old) values.texts.set(name, text)
  await replica.compare()
  t.same(replica.shift.shares, { reads: 0, writes: 0 })
  t.same((await startReplica(t, values)).shift.shares, { reads: 0, writes: 0 })
  values.texts.clear()
  await replica.compare()
  t.same((await startReplica(t, values)).shift.shares, { reads: 0, writes: 0 })
})

t.test('another shift in the file begins with its own shares, also if the file changes back', async (t) => {
  const values = new StoredValues()
  const first = await startReplica(t, values)
  first.shift.change(MOVED)
  await first.compare()
  const changed = await startReplica(t, values, { reads: 0.2 })
  t.same(changed.shift.shares, { reads: 0.2, writes: 0 })
  await first.compare()
  t.same(first.shift.shares, MOVED, 'replicas with the former file keep their shares')
  t.same((await startReplica(t, values, { reads: 0.2 })).shift.shares, { reads: 0.2, writes: 0 })
  t.same((await startReplica(t, values)).shift.shares, FILE)
})

t.test('a reload of other settings does not end the shares of replicas with another shift', async (t) => {
  const values = new StoredValues()
  const first = await startReplica(t, values)
  first.shift.change(MOVED)
  await first.compare()
  const { writes } = values
  const reloaded = await startReplica(t, values, { reads: 0.2, isTakenOver: true })
  t.equal(values.writes, writes)
  t.same(reloaded.shift.shares, { reads: 0.2, writes: 0 })
})

t.test('without Redis the file applies, with a warning, until Redis responds', async (t) => {
  const values = new StoredValues()
  const first = await startReplica(t, values)
  first.shift.change(MOVED)
  await first.compare()
  values.isUp = false
  const second = await startReplica(t, values)
  t.same(second.shift.shares, FILE)
  t.match(second.warnings, [/could not be read from Redis/])
  await first.compare()
  t.same(first.shift.shares, MOVED)
  values.isUp = true
  await second.compare()
  t.same(second.shift.shares, MOVED)
})

t.test('unchanged shares are written again before they expire', async (t) => {
  const values = new StoredValues()
  let nowMs = 1000
  const replica = await startReplica(t, values, { wallNow: () => nowMs })
  replica.shift.change(MOVED)
  await replica.compare()
  await replica.compare()
  t.equal(values.writes, 1)
  nowMs += SHARED_SHIFT_TIMES_MS.renew + 1
  await replica.compare()
  await replica.compare()
  t.equal(values.writes, 2)
})

t.test('a stored text of another form has no effect', async (t) => {
  for (const text of [
    '',
    '{',
    '[]',
    '{"settings":"x"}',
    '{"state":{"shares":{"reads":1,"writes":1},"changedAtMs":5}}',
  ]) {
    const values = new StoredValues()
    values.texts.set('default', text)
    t.same((await startReplica(t, values)).shift.shares, FILE, text)
  }
})

/** Returns the share of the reads that the new group gets. */
function shareOf({ metric }: Pick<Reloadable, 'metric'>): Promise<number | null> {
  return metric('gateway_shift_share{engine="default",group="new",kind="reads"}')
}

for (const signingKeys of [[], ['a key of at least thirty-two bytes, for signatures']])
  t.test(
    `a restarted replica has the shares of the others, with ${signingKeys.length} signing keys`,
    { skip: redisSkip },
    async (t) => {
      const redis = await startRedis()
      t.teardown(() => redis.stop())
      const node = await startNode(t, (_request, response) => response.end('{}'))
      const nodes = ['old', 'new'].map((group) => ({ url: `${node.url}/${group}`, group }))
      const settings = {
        engines: { default: { nodes, shift: { to: 'new', reads: '10%' } } },
        health: { probe: false },
        cache: { redis: redis.url, signingKeys },
      }
      const first = await startReloadable(t, settings)
      t.equal(await shareOf(first), 0.1)
      await fetch(`${first.running.adminAddress}/shift`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-requested-by': 'test' },
        body: JSON.stringify({ reads: '50%' }),
      })
      await first.running.drain()
      const restarted = await startReloadable(t, settings)
      t.equal(await shareOf(restarted), 0.5, 'from the first request on')
      await restarted.reload({
        ...settings,
        engines: { default: { nodes, shift: { to: 'new', reads: '20%' } } },
      })
      t.equal(await shareOf(restarted), 0.2)
      await restarted.reload(settings)
      await until(async () => (await shareOf(restarted)) === 0.1)
    },
  )
