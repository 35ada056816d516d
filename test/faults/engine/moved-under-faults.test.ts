import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { exchange } from '../../engine/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../../engine/gateway-process.ts'
import { shiftTo } from '../../engine/shift-to.ts'
import { checkStarts, deployExternal, startLoad } from '../../engine/steady-load.ts'
import { startTwoFamilies } from '../../engine/two-families.ts'
import { accessOfAdmins } from '../../support/admins.ts'
import { until } from '../../support/cache-harness.ts'
import { startRedis } from '../../support/redis.ts'
import { javaSkip } from '../../support/requirements.ts'

/** `MOVE_SEEDS=1,2,3` repeats the move with other times between its steps. */
const SEEDS = (process.env['MOVE_SEEDS'] ?? '1').split(',').map(Number)
/** On a busy machine, an engine that has just started may be slow. */
const ENGINE = 'shift: { to: new, return: { slower: null } }'
const LOAD = { readsEveryMs: 50, startsEveryMs: 200 }
/** A starter whose process always fails sends a request a second. */
const FAILING_EVERY_MS = 1000
const RETURN_MS = 15_000
/** The time within which both gateways have the same shares after a change, or after Redis is back. */
const AGREE_MS = 15_000

/** Its start fails at every engine with 500. */
const FAILING = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="http://engine-gateway/test">
  <process id="failing" isExecutable="true" camunda:historyTimeToLive="P30D">
    <startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="fail"/>
    <serviceTask id="fail" camunda:expression="#{missing.call()}"/>
  </process>
</definitions>`

for (const seed of SEEDS)
  t.test(
    `a move ends in spite of a client that always fails, a lost Redis and a freeze (seed ${seed})`,
    { skip: javaSkip, timeout: 400_000 },
    async (t) => {
      const pause = createPause(seed)
      let redis = await startRedis()
      t.teardown(() => redis.stop())
      const settings = `
timeouts: { drain: 1s }
limits: { pressure: { eventLoopDelay: null } }
cache: { redis: "${redis.url}" }
`
      const access = await accessOfAdmins(t, ['demo', 'other', 'failing'])
      const { old, next, gateway } = await startTwoFamilies(t, { engine: ENGINE, settings, access })
      const second = await startGatewayProcess({
        nodes: [
          { url: old.base, group: 'old' },
          { url: next.base, group: 'new' },
        ],
        engine: ENGINE,
        settings,
        access,
      })
      t.teardown(() => second.stop())
      const gateways = [gateway, second]
      await deployExternal(old.base)
      await deployFailing(old.base)
      const loads = [
        startLoad(t, gateway, { ...LOAD, name: 'demo' }),
        startLoad(t, { base: second.base, headers: headersOf('other') }, { ...LOAD, name: 'other' }),
      ]
      const failing = startFailing(t, gateway)
      await pause()

      await shiftTo(gateway, { reads: '50%', writes: '50%' })
      await agree(gateways, { reads: 0.5, writes: 0.5, returned: null })
      await pause()
      await redis.stop()
      await pause()
      t.match(await shiftTo(gateway, { reads: '100%', writes: '100%' }), { shared: false })
      t.match(await shiftTo(second, {}), { reads: 0.5 }, 'the other gateway cannot know the new shares')
      await pause()
      redis = await startRedis({ port: redis.port })
      const sharedMs = await agree(gateways, { reads: 1, writes: 1, returned: null })
      await pause()
      for (const one of gateways)
        t.match(await shiftTo(one, {}), { reads: 1, writes: 1, returned: null }, 'nothing has returned')

      const frozenAtMs = performance.now()
      process.kill(next.pid, 'SIGSTOP')
      t.teardown(() => process.kill(next.pid, 'SIGCONT'))
      await agree(gateways, { reads: 0, writes: 0 }, RETURN_MS)
      for (const one of gateways) t.match(await shiftTo(one, {}), { returned: /^(down|errors)$/ })
      const returnedMs = performance.now() - frozenAtMs
      await pause()
      process.kill(next.pid, 'SIGCONT')
      await pause()
      await shiftTo(second, { reads: '100%', writes: '100%' })
      await agree(gateways, { reads: 1, writes: 1, returned: null })
      await pause()
      for (const one of gateways) t.match(await shiftTo(one, {}), { returned: null }, 'the move has ended')

      const results = (await Promise.all(loads.map(({ end }) => end()))).flat()
      const statuses = await failing.end()
      const reads = results.filter(({ kind }) => kind === 'read')
      const longestMs = Math.max(...reads.map(({ sentAtMs, atMs }) => atMs - sentAtMs))
      t.comment({
        requests: results.length,
        failingStarts: statuses.length,
        failures: [...new Set(results.flatMap(({ failure }) => failure ?? []))],
        sharedMs: Math.round(sharedMs),
        returnedMs: Math.round(returnedMs),
        longestReadMs: Math.round(longestMs),
      })
      t.same(
        reads.filter(({ failure }) => failure !== null),
        [],
        `none of ${reads.length} reads fails`,
      )
      t.ok(longestMs < returnedMs + 2000, `the longest read takes ${Math.round(longestMs)} ms`)
      t.ok(statuses.filter((status) => status === 500).length > 5, 'the failing client was failing')
      await checkStarts(t, old.base, results)
    },
  )

/** Returns a function that waits for two to six seconds, for other times with each seed. */
function createPause(seed: number): () => Promise<unknown> {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return wait(2000 + (state % 4000))
  }
}

function headersOf(user: string): Readonly<Record<string, string>> {
  return { authorization: `Basic ${Buffer.from(`${user}:demo`).toString('base64')}` }
}

/** Resolves when all gateways have these shares, with the time. */
function agree(
  gateways: readonly GatewayProcess[],
  shares: Readonly<Record<string, unknown>>,
  withinMs = AGREE_MS,
): Promise<number> {
  const has = (shift: unknown) =>
    isRecord(shift) && Object.entries(shares).every(([name, value]) => shift[name] === value)
  return until(async () => (await Promise.all(gateways.map((one) => shiftTo(one, {})))).every(has), withinMs)
}

/** Sends starts that fail at every engine. */
function startFailing(t: Test, { base }: GatewayProcess) {
  const statuses: number[] = []
  const running = new Set<Promise<unknown>>()
  const send = async (): Promise<void> => {
    const path = '/process-definition/key/failing/start'
    statuses.push((await exchange(base, { method: 'POST', path, body: {} }, headersOf('failing'))).status)
  }
  const timer = setInterval(() => {
    const one: Promise<void> = send()
      .catch(() => undefined)
      .finally(() => running.delete(one))
    running.add(one)
  }, FAILING_EVERY_MS)
  const end = async () => {
    clearInterval(timer)
    await Promise.all(running)
    return statuses
  }
  t.teardown(end)
  return { end }
}

async function deployFailing(base: string): Promise<void> {
  const form = new FormData()
  form.append('deployment-name', 'failing')
  form.append('failing.bpmn', new Blob([FAILING]), 'failing.bpmn')
  const { status } = await exchange(base, { method: 'POST', path: '/deployment/create', body: form })
  if (status !== 200) throw new Error(`The deployment failed: ${status}`)
}
