import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { javaSkip } from '../../support/requirements.ts'
import { startEngine } from '../../engine/engine.ts'
import { startGatewayProcess } from '../../engine/gateway-process.ts'
import { measureLatency, p99Of } from '../../engine/latency.ts'
import { holdPolls } from '../../engine/held-polls.ts'
import { seed } from '../../engine/seed.ts'

const POLLS = 10_000
/** The polls take 25 s to arrive, and are measured for 10 s when all have arrived. */
const HOLD_MS = 45_000
/** A response may be late by this time on a machine that does other work. */
const GRACE_MS = 3000
const MEMORY_BYTES = 400 * 1000 ** 2
const MEASURED_MS = 10_000
/** Below this, durations on a busy machine are not meaningful. */
const FLOOR_MS = 10

t.test(`${POLLS} polls wait in front of one engine`, { skip: javaSkip, timeout: 180_000 }, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  await seed(engine.base)
  const gateway = await startGatewayProcess({ nodes: [engine.base], asImage: true })
  t.teardown(() => gateway.stop())
  // An idle gateway is measured at the same time, because other load of the machine affects both.
  const idling = await startGatewayProcess({ nodes: [engine.base], asImage: true })
  t.teardown(() => idling.stop())
  const compiled = delay(3000)
  await Promise.all([measureLatency(gateway, compiled), measureLatency(idling, compiled)])
  const atStart = await gateway.memory()
  const polls = holdPolls(gateway, { count: POLLS, holdMs: HOLD_MS })
  t.teardown(() => polls.stop())
  const coming = await measureLatency(gateway, polls.waiting)
  const measured = delay(MEASURED_MS)
  const [waiting, idle] = await Promise.all([
    measureLatency(gateway, measured),
    measureLatency(idling, measured),
  ])
  const going = measureLatency(gateway, polls.over)
  const { answered, others, longestMs } = await polls.over
  const memory = await gateway.memory()

  await t.test('each poll returns 200 and a list', (t) => {
    t.same(others, {})
    t.equal(answered, POLLS)
    t.end()
  })

  await t.test('each poll returns in time', (t) => {
    t.ok(longestMs < HOLD_MS + GRACE_MS, `the longest took ${longestMs} ms`)
    t.end()
  })

  await t.test('the gateway uses less than 400 MB', (t) => {
    t.ok(memory.peakBytes < MEMORY_BYTES, `${memory.peakBytes} bytes, of them ${atStart.bytes} before`)
    t.end()
  })

  await t.test(
    `other calls take less than twice those of an idle gateway, or less than ${2 * FLOOR_MS} ms`,
    async (t) => {
      t.same([...idle.failed, ...coming.failed, ...waiting.failed, ...(await going).failed], [])
      t.ok(waiting.durations.length > 400, `${waiting.durations.length} calls`)
      const [idleMs, waitingMs] = [p99Of(idle), p99Of(waiting)]
      t.ok(waitingMs < 2 * Math.max(idleMs, FLOOR_MS), `99 of 100 within ${waitingMs} ms, idle ${idleMs} ms`)
      t.comment(`as the polls come ${p99Of(coming)} ms, as they go ${p99Of(await going)} ms`)
    },
  )
})
