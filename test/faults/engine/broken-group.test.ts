import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { startChangingProxy } from '../../engine/changing-proxy.ts'
import { startScriptWorker } from '../../engine/clients.ts'
import type { GatewayProcess } from '../../engine/gateway-process.ts'
import { shiftTo } from '../../engine/shift-to.ts'
import { checkStarts, deployExternal, type Result, startLoad } from '../../engine/steady-load.ts'
import { startTwoFamilies } from '../../engine/two-families.ts'
import { until } from '../../support/cache-harness.ts'
import { javaSkip } from '../../support/requirements.ts'

/** On a busy machine, an engine that has just started may be slow. */
const SHIFT = 'shift: { to: new, return: { slower: null } }'
const SETTINGS = 'timeouts: { drain: 1s }\nlimits: { pressure: { eventLoopDelay: null } }'
/** How long the old group serves all requests before a shift, and how long the new group serves them before it breaks. */
const BEFORE_MS = 5000
/** The time within which all requests must have returned. */
const RETURN_MS = 15_000
/** How long clients are observed after the return. */
const AFTER_MS = 5000

t.test(
  'if the only node of the new group is killed, the old group serves its requests',
  { skip: javaSkip, timeout: 300_000 },
  async (t) => {
    const { old, next, gateway } = await startTwoFamilies(t, {
      engine: SHIFT,
      settings: SETTINGS,
    })
    await deployExternal(old.base)
    const script = startScriptWorker({ base: gateway.base, topic: 'work', pollMs: 5000, lockMs: 600_000 })
    t.teardown(() => script.stop())
    const load = startLoad(t, gateway, { readsEveryMs: 50, startsEveryMs: 200 })
    await wait(BEFORE_MS)
    await shiftTo(gateway, { reads: '100%', writes: '100%' })
    await wait(BEFORE_MS)
    const brokenAtMs = performance.now()
    process.kill(next.pid, 'SIGKILL')
    const returnedAtMs = await returnOf(gateway)
    await wait(AFTER_MS)
    const results = await load.end()
    const failures = results.filter(({ failure, atMs }) => failure !== null && atMs > brokenAtMs)
    const observation = { results, brokenAtMs, returnedAtMs }
    report(t, observation)
    t.comment(script.errors)

    t.match(await shiftTo(gateway, {}), { reads: 0, writes: 0, returned: /^(down|errors)$/ })
    t.same(
      failures.filter(({ kind }) => kind === 'read'),
      [],
      'no read fails',
    )
    t.ok(failures.length <= 5, 'only starts in progress at the node fail')
    t.ok(script.errors.length <= 12, 'only polls and completions in progress at the node fail')
    t.same(
      failures.filter(({ failure }) => failure !== 'GW_OUTCOME_UNKNOWN'),
      [],
      'their outcome is unknown',
    )
    t.ok(lastFailureMs(observation) < 2000, 'requests fail for less than two seconds')
    await checkStarts(t, old.base, results)
  },
)

t.test(
  'if the only node of the new group freezes, the old group serves the reads that wait for it',
  { skip: javaSkip, timeout: 300_000 },
  async (t) => {
    const { old, next, gateway } = await startTwoFamilies(t, { engine: SHIFT, settings: SETTINGS })
    await deployExternal(old.base)
    const load = startLoad(t, gateway, { readsEveryMs: 50, startsEveryMs: 200 })
    await wait(BEFORE_MS)
    await shiftTo(gateway, { reads: '100%', writes: '100%' })
    await wait(BEFORE_MS)
    const brokenAtMs = performance.now()
    process.kill(next.pid, 'SIGSTOP')
    t.teardown(() => process.kill(next.pid, 'SIGCONT'))
    const returnedAtMs = await returnOf(gateway)
    await wait(AFTER_MS)
    // Starts that were sent to the frozen node get their responses now. Whether they had an effect was not known before.
    process.kill(next.pid, 'SIGCONT')
    const results = await load.end()
    report(t, { results, brokenAtMs, returnedAtMs })

    t.match(await shiftTo(gateway, {}), { reads: 0, writes: 0, returned: 'down' })
    const reads = results.filter(({ kind, sentAtMs }) => kind === 'read' && sentAtMs > brokenAtMs - 1000)
    t.same(
      reads.filter(({ failure }) => failure !== null),
      [],
      'no read fails',
    )
    const longestMs = Math.max(...reads.map(({ sentAtMs, atMs }) => atMs - sentAtMs))
    t.ok(longestMs < returnedAtMs - brokenAtMs + 2000, `the longest read takes ${Math.round(longestMs)} ms`)
    await checkStarts(t, old.base, results)
  },
)

t.test(
  'if all starts fail at the new group because the schema is old, all requests return, although the reads succeed',
  { skip: javaSkip, timeout: 300_000 },
  async (t) => {
    // Camunda 7.22 creates a schema without columns that the starts of Operaton 1.0 need. The gateway sends no requests to a group
    // whose schema it knows to be too old, but here it cannot read the schema.
    const { old, gateway } = await startTwoFamilies(t, {
      families: ['camunda', 'operaton'],
      engine: SHIFT,
      settings: SETTINGS,
      inFront: async (base, group) => {
        if (group === 'old') return base
        const proxy = await startChangingProxy(base, (path) => (path === '/schema/log' ? '[]' : null))
        t.teardown(() => proxy.stop())
        return proxy.base
      },
    })
    await deployExternal(old.base)
    // One of 51 requests is a start. All failures together are fewer than the limit of 2 %.
    const load = startLoad(t, gateway, { readsEveryMs: 10, startsEveryMs: 500 })
    await wait(BEFORE_MS)
    await shiftTo(gateway, { reads: '100%' })
    await wait(BEFORE_MS)
    const brokenAtMs = performance.now()
    await shiftTo(gateway, { writes: '100%' })
    const returnedAtMs = await returnOf(gateway)
    await wait(AFTER_MS)
    const results = await load.end()
    const failures = results.filter(({ failure, atMs }) => failure !== null && atMs > brokenAtMs)
    report(t, { results, brokenAtMs, returnedAtMs })

    t.match(await shiftTo(gateway, {}), { reads: 0, writes: 0, returned: 'errors' })
    t.same(
      failures.filter(({ kind }) => kind === 'read'),
      [],
      'no read fails',
    )
    t.ok(failures.length >= 5, 'starts fail until five of them show the fault')
    t.ok(failures.length <= 12, `${failures.length} starts fail`)
    t.same(
      failures.filter(({ sentAtMs }) => sentAtMs > returnedAtMs),
      [],
      'no start fails that is sent after the return',
    )
    await checkStarts(t, old.base, results)
  },
)

interface Observation {
  readonly results: readonly Result[]
  readonly brokenAtMs: number
  readonly returnedAtMs: number
}

/** Writes the figures of docs/moving.md. */
function report(t: Test, observation: Observation): void {
  const { results, brokenAtMs, returnedAtMs } = observation
  const after = results.filter(({ atMs }) => atMs > brokenAtMs)
  const failed = after.filter(({ failure }) => failure !== null)
  t.comment({
    requests: after.length,
    failedReads: failed.filter(({ kind }) => kind === 'read').length,
    failedStarts: failed.filter(({ kind }) => kind === 'start').length,
    failures: [...new Set(failed.map(({ failure }) => failure))],
    lastFailureMs: Math.round(lastFailureMs(observation)),
    returnedMs: Math.round(returnedAtMs - brokenAtMs),
  })
}

/** Returns the time between the fault and the last failed request. */
function lastFailureMs({ results, brokenAtMs }: Observation): number {
  return Math.max(0, ...results.map(({ atMs, failure }) => (failure === null ? 0 : atMs - brokenAtMs)))
}

/** Resolves when all requests have returned, with the time. */
async function returnOf(gateway: GatewayProcess): Promise<number> {
  await until(async () => isReturned(await shiftTo(gateway, {})), RETURN_MS)
  return performance.now()
}

function isReturned(shift: unknown): boolean {
  return isRecord(shift) && shift['returned'] !== null
}
