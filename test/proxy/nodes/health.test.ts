import t from 'tap'
import {
  Health,
  type HealthChange,
  type HealthOptions,
  type ProbeResult,
} from '../../../src/proxy/nodes/health.ts'

function openHealth(options: HealthOptions = {}) {
  const changes: HealthChange[] = []
  return { health: new Health((change) => changes.push(change), options), changes }
}

/** Records `times` failures, each of a request that began and ended at `nowMs`. */
function fail(health: Health, times: number, nowMs: number, reason: 'reset' | 'timeout' = 'reset'): void {
  for (let i = 0; i < times; i += 1) health.failed(reason, nowMs, nowMs)
}

t.test('a refused connection ejects a node at once', (t) => {
  const { health, changes } = openHealth()
  health.failed('refused', 0, 0)
  t.same(changes, [{ reason: 'refused', detail: '', periodMs: 1000 }])
  t.ok(health.isUnreachable)
  t.end()
})

for (const reason of ['reset', 'timeout', 'gateway-error'] as const)
  t.test(`five failures in a row eject a node: ${reason}`, (t) => {
    const { health } = openHealth()
    for (let i = 0; i < 4; i += 1) health.failed(reason, 0, 0)
    t.equal(health.reason, null)
    health.failed(reason, 0, 0)
    t.equal(health.reason, reason)
    t.notOk(health.isUnreachable)
    t.end()
  })

for (const status of [502, 503, 504])
  t.test(`five responses with status ${status} in a row eject a node as a gateway error`, (t) => {
    const { health } = openHealth()
    for (let i = 0; i < 5; i += 1) health.recordResponse(status, 0, 0)
    t.equal(health.reason, 'gateway-error')
    t.end()
  })

t.test('a 500 of the engine never ejects a node and ends a series of failures', (t) => {
  const { health } = openHealth()
  for (let i = 0; i < 1000; i += 1) health.recordResponse(500, 0, 0)
  t.equal(health.reason, null)
  fail(health, 4, 0)
  health.recordResponse(500, 0, 0)
  fail(health, 4, 0)
  t.equal(health.reason, null)
  t.end()
})

t.test('requests that started before the ejection do not change it', (t) => {
  const { health } = openHealth()
  health.failed('refused', 100, 200)
  health.recordResponse(200, 150, 300)
  t.equal(health.reason, 'refused')
  health.recordResponse(200, 1300, 1310)
  t.equal(health.reason, null)
  health.failed('refused', 1305, 1400)
  t.equal(health.reason, null, 'nor does what began before the return')
  t.end()
})

t.test('each consecutive ejection lasts twice as long as the previous one, up to a minute', (t) => {
  const { health, changes } = openHealth()
  let nowMs = 0
  for (let i = 0; i < 8; i += 1) {
    health.failed('refused', nowMs, nowMs)
    nowMs += 1000
    health.probed('ok', nowMs, '')
  }
  t.same(
    changes.filter(({ reason }) => reason !== null).map(({ periodMs }) => periodMs / 1000),
    [1, 2, 4, 8, 16, 32, 60, 60],
  )
  t.end()
})

t.test('a failed trial lengthens the ejection, once per period', (t) => {
  const { health } = openHealth()
  health.failed('refused', 0, 0)
  t.notOk(health.takeTrial(999))
  t.ok(health.takeTrial(1000))
  t.notOk(health.takeTrial(1500))
  health.failed('refused', 1000, 1100)
  health.failed('refused', 1100, 1200)
  t.notOk(health.takeTrial(3000))
  t.ok(health.takeTrial(3100))
  t.end()
})

t.test('a node that was healthy for a minute starts again with the shortest ejection', (t) => {
  const { health, changes } = openHealth()
  for (const nowMs of [0, 1000, 62_000]) {
    health.failed('refused', nowMs, nowMs)
    health.probed('ok', nowMs + 500, '')
  }
  t.same(
    changes.filter(({ reason }) => reason !== null).map(({ periodMs }) => periodMs),
    [1000, 2000, 1000],
  )
  t.end()
})

t.test('a successful probe immediately ends an ejection that a probe can observe', (t) => {
  for (const seen of ['refused', 'wrong-engine'] as const) {
    const { health, changes } = openHealth()
    health.probed(seen, 0, 'x')
    t.same(changes, [{ reason: seen, detail: 'x', periodMs: 1000 }])
    health.probed('ok', 10, '')
    t.equal(health.reason, null, seen)
  }
  t.end()
})

t.test('after its period, a successful probe ends an ejection that only requests can observe', (t) => {
  const { health } = openHealth()
  fail(health, 5, 0)
  health.probed('ok', 999, '')
  t.equal(health.reason, 'reset')
  health.probed('ok', 1000, '')
  t.equal(health.reason, null)
  t.end()
})

t.test('one failed probe does not eject a node, and two in a row do', (t) => {
  const { health } = openHealth()
  const seen: ProbeResult[] = ['probe', 'ok', 'probe', 'probe']
  t.same(
    seen.map((decision) => {
      health.probed(decision, 0, '')
      return health.reason
    }),
    [null, null, null, 'probe'],
  )
  t.end()
})

t.test('a successful request does not end an ejection by a probe', (t) => {
  const { health } = openHealth()
  health.probed('wrong-engine', 0, '')
  health.recordResponse(200, 10, 10)
  t.equal(health.reason, 'wrong-engine')
  t.end()
})

t.test('the worse of two faults is reported, and the latest of two probe results', (t) => {
  const { health, changes } = openHealth()
  fail(health, 5, 0)
  health.failed('refused', 10, 10)
  fail(health, 5, 20)
  health.probed('probe', 30, 'it answers 404')
  health.probed('probe', 40, 'it answers 404')
  health.probed('wrong-engine', 50, 'it names no engine')
  t.same(
    changes.map(({ reason }) => reason),
    ['reset', 'refused', 'probe', 'wrong-engine'],
  )
  t.end()
})

t.test('an ejected node is probed sooner', (t) => {
  const { health } = openHealth()
  t.equal(health.probeInMs(5000, 0), 5000)
  health.probed('probe', 0, '')
  t.equal(health.probeInMs(5000, 0), 1000, 'to find out whether it was a pause')
  health.probed('probe', 1000, '')
  t.equal(health.probeInMs(5000, 1000), 1000)
  for (let nowMs = 2000; nowMs < 40_000; nowMs += 1000) health.probed('probe', nowMs, '')
  t.equal(health.probeInMs(5000, 40_000), 5000, 'but never later than a healthy one')
  t.end()
})

t.test('a node is silent after two consecutive connection attempts that time out', (t) => {
  const { health } = openHealth()
  const hearNothing = (startedAtMs: number) => {
    health.silent(startedAtMs)
    health.failed('refused', startedAtMs, startedAtMs + 1000)
  }
  hearNothing(0)
  t.ok(health.isUnreachable)
  t.notOk(health.isSilent, 'one packet may be lost')
  hearNothing(2000)
  t.ok(health.isSilent)
  health.probed('ok', 5000, '')
  t.notOk(health.isSilent)
  hearNothing(6000)
  health.recordResponse(200, 6500, 6600)
  hearNothing(6500)
  t.notOk(health.isSilent, 'it answered meanwhile')
  hearNothing(7600)
  t.notOk(health.isSilent)
  hearNothing(8700)
  t.ok(health.isSilent)
  t.end()
})

t.test('the longest ejection is configurable', (t) => {
  for (const [options, longestMs] of [
    [{}, 60_000],
    [{ maxEjection: 5000 }, 5000],
  ] as const) {
    const { health } = openHealth(options)
    health.failed('refused', 0, 0)
    const trials: number[] = []
    for (let nowMs = 0; nowMs < 600_000; nowMs += 500)
      if (health.takeTrial(nowMs)) {
        trials.push(nowMs)
        health.failed('refused', nowMs, nowMs)
      }
    t.equal(Math.max(...trials.map((atMs, index) => atMs - (trials[index - 1] ?? 0))), longestMs)
  }
  t.end()
})
