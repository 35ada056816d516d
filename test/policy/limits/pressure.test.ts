import t, { type Test } from 'tap'
import { createPressure, PRESSURE_KINDS, type PressureLimits } from '../../../src/policy/limits/pressure.ts'

const MIB = 1024 ** 2
const LIMITS: PressureLimits = { lateMs: 500, heapBytes: 100 * MIB, memoryBytes: 200 * MIB }

/** Opens the pressure of a process whose time and memory the test sets. */
function openPressure(t: Test, limits: PressureLimits = LIMITS) {
  const clock = { nowMs: 0 }
  const usage = { heap: 10 * MIB, oldHeap: 10 * MIB, external: 0 }
  const lines: string[] = []
  const state = { collected: 0, stopped: 0, onCollect: () => {} }
  let look: (() => void) | null = null
  const pressure = createPressure({
    limits,
    log: {
      warn: (line: object) => void lines.push(`warn ${JSON.stringify(line)}`),
      info: (line: object) => void lines.push(`info ${JSON.stringify(line)}`),
    },
    probe: {
      now: () => clock.nowMs,
      usage: () => usage,
      collect: async () => {
        state.collected += 1
        state.onCollect()
      },
      every: (_ms, given) => {
        look = given
        return () => void (state.stopped += 1)
      },
    },
  })
  const lookAfter = async (ms: number) => {
    clock.nowMs += ms
    look?.()
    await Promise.resolve()
  }
  const calm = async (looks: number) => {
    for (let index = 0; index < looks; index += 1) await lookAfter(100)
  }
  t.teardown(() => pressure.close())
  return { pressure, usage, lines, state, lookAfter, calm }
}

t.test('one pause of the event loop refuses no request', async (t) => {
  const { pressure, lookAfter, calm } = openPressure(t)
  for (let index = 0; index < 2; index += 1) {
    for (let sent = 0; sent < 100; sent += 1) t.equal(pressure.refusalOf('heavy', 0), null)
    await lookAfter(5000)
    t.equal(pressure.refusal(), null)
    t.equal(pressure.refusalOf('heavy', 0), null)
    await calm(1)
  }
})

t.test('a loop that is late refuses the callers that cause most of the load, and no others', async (t) => {
  const { pressure, lookAfter, calm, lines } = openPressure(t)
  const refusalsOf = (caller: string, count: number) =>
    Array.from({ length: count }, () => pressure.refusalOf(caller, 0)).filter((one) => one !== null)
  const refused = { heavy: 0, light: 0 }
  for (let turn = 0; turn < 40; turn += 1) {
    const light = Array.from({ length: 10 }, (_, index) => refusalsOf(`light-${index}`, 1)).flat()
    const heavy = refusalsOf('heavy', 100)
    for (const one of heavy.slice(0, 1))
      t.match(one, { code: 'GW_OVERLOADED', statusCode: 503, retryAfterSeconds: 2, message: /event loop/ })
    refused.light += light.length
    refused.heavy += heavy.length
    await lookAfter(100 + 8 * (110 - light.length - heavy.length))
  }
  t.comment(`refused: ${refused.heavy} of 4,000 of one caller, ${refused.light} of 400 of the others`)
  t.ok(refused.heavy > 1000)
  t.equal(refused.light, 0)
  t.equal(pressure.refusal(), null, 'requests are not refused before it is known who sends them')
  await calm(70)
  t.same(refusalsOf('heavy', 100), [], 'the bound was raised')
  t.match(lines, [/^warn .*"event-loop"/, /^info .*"event-loop"/], 'each change is logged once')
  t.equal(lines.length, 2)
})

t.test('a loop that is late refuses the only caller, too', async (t) => {
  const { pressure, lookAfter, calm } = openPressure(t)
  const send = () => Array.from({ length: 50 }, () => pressure.refusalOf('only', 0)).at(-1)
  send()
  for (let index = 0; index < 4; index += 1) await lookAfter(700)
  t.ok(send())
  await calm(2)
  t.equal(send(), null)
})

t.test('a large body counts as many requests', async (t) => {
  const { pressure, lookAfter } = openPressure(t)
  for (let index = 0; index < 10; index += 1) pressure.refusalOf('heavy', 60_000)
  for (let index = 0; index < 100; index += 1) pressure.refusalOf(`light-${index % 10}`, 0)
  for (let index = 0; index < 3; index += 1) await lookAfter(700)
  t.ok(pressure.refusalOf('heavy', 0))
  t.equal(pressure.refusalOf('light-1', 0), null)
})

t.test(
  'a loop that remains late by twice the limit refuses all requests until it is in time for a second',
  async (t) => {
    const { pressure, lookAfter, calm } = openPressure(t)
    for (let index = 0; index < 3; index += 1) await lookAfter(1200)
    await lookAfter(700)
    for (let index = 0; index < 3; index += 1) await lookAfter(1200)
    t.equal(pressure.refusal(), null)
    await lookAfter(1200)
    t.match(pressure.refusal(), { code: 'GW_OVERLOADED', statusCode: 503, retryAfterSeconds: 2 })
    t.match(pressure.refusal()?.message, /event loop/)
    await calm(9)
    t.ok(pressure.refusal(), 'not yet')
    await calm(1)
    t.equal(pressure.refusal(), null)
  },
)

t.test('a loop that is late by more than half of the limit keeps refusing requests', async (t) => {
  const { pressure, lookAfter, calm } = openPressure(t)
  for (let index = 0; index < 4; index += 1) await lookAfter(1200)
  for (let index = 0; index < 20; index += 1) await lookAfter(360)
  t.ok(pressure.refusal())
  await calm(10)
  t.equal(pressure.refusal(), null)
})

t.test('without a limit a late event loop refuses no request', async (t) => {
  const { pressure, lookAfter } = openPressure(t, { ...LIMITS, lateMs: null })
  await lookAfter(60_000)
  await lookAfter(60_000)
  t.equal(pressure.refusal(), null)
})

for (const kind of ['heap', 'memory'] as const) {
  t.test(`${kind}: garbage alone refuses no request`, async (t) => {
    const { pressure, usage, state, calm } = openPressure(t)
    if (kind === 'heap') usage.oldHeap = 101 * MIB
    else usage.external = 195 * MIB
    state.onCollect = () => Object.assign(usage, { oldHeap: 10 * MIB, external: 0 })
    await calm(20)
    t.equal(state.collected, 1)
    t.equal(pressure.refusal(), null)
  })

  t.test(
    `${kind}: memory that remains after a collection refuses requests until it is released`,
    async (t) => {
      const { pressure, usage, state, calm } = openPressure(t)
      if (kind === 'heap') usage.oldHeap = 101 * MIB
      else usage.external = 195 * MIB
      await calm(2)
      t.match(pressure.refusal(), { code: 'GW_OVERLOADED' })
      for (const one of PRESSURE_KINDS) t.equal(pressure.isOver(one), one === kind)
      if (kind === 'heap') usage.oldHeap = 95 * MIB
      else usage.external = 175 * MIB
      await calm(30)
      t.ok(pressure.refusal(), 'less than a tenth below the limit is not enough')
      t.ok(state.collected >= 3 && state.collected <= 4, `collected ${state.collected} times in 3.2 s`)
      state.onCollect = () => Object.assign(usage, { oldHeap: 10 * MIB, external: 0 })
      await calm(21)
      t.equal(pressure.refusal(), null, 'though nobody made garbage')
    },
  )
}

t.test('the pause after a long collection is at most five seconds', async (t) => {
  const { pressure, usage, state, lookAfter, calm } = openPressure(t)
  usage.external = 195 * MIB
  state.onCollect = () => void lookAfter(3000)
  await calm(2)
  t.ok(pressure.refusal())
  t.equal(state.collected, 1)
  await calm(48)
  t.equal(state.collected, 1)
  await calm(4)
  t.equal(state.collected, 2, 'five seconds later')
})

t.test('reserved memory counts until it is used, and used memory until the next measurement', async (t) => {
  const { pressure, calm } = openPressure(t, { ...LIMITS, heapBytes: 1000 * MIB })
  await calm(1)
  t.equal(pressure.reserve(100 * MIB), null)
  t.equal(pressure.reserve(80 * MIB), null)
  t.match(pressure.reserve(20 * MIB), { code: 'GW_OVERLOADED' })
  pressure.release(80 * MIB)
  t.match(pressure.reserve(20 * MIB), { code: 'GW_OVERLOADED' }, 'it is there, and was not seen yet')
  await calm(1)
  t.equal(pressure.reserve(20 * MIB), null)
  t.equal(pressure.refusal(), null, 'requests that bring little are served')
})

t.test('garbage does not refuse large bodies for long', async (t) => {
  const { pressure, usage, state, calm } = openPressure(t, { ...LIMITS, heapBytes: 1000 * MIB })
  usage.external = 180 * MIB
  state.onCollect = () => Object.assign(usage, { external: 0 })
  await calm(5)
  t.equal(state.collected, 0)
  t.match(pressure.reserve(20 * MIB), { code: 'GW_OVERLOADED' })
  await calm(1)
  t.equal(pressure.reserve(20 * MIB), null)
})

t.test('the used part of each limit is reported', async (t) => {
  const { pressure, usage, lookAfter } = openPressure(t)
  Object.assign(usage, { heap: 30 * MIB, oldHeap: 25 * MIB, external: 70 * MIB })
  await lookAfter(350)
  t.same(
    (['event-loop', 'heap', 'memory'] as const).map((kind) => pressure.ratio(kind)),
    [0.5, 0.25, 0.5],
  )
})

t.test('new limits apply at once', async (t) => {
  const { pressure, lookAfter } = openPressure(t)
  pressure.limit({ ...LIMITS, lateMs: 50 })
  await lookAfter(160)
  await lookAfter(160)
  t.ok(pressure.isOver('event-loop'))
})

t.test('the process is not measured after close', (t) => {
  const { pressure, state } = openPressure(t)
  pressure.close()
  t.equal(state.stopped, 1)
  t.end()
})
