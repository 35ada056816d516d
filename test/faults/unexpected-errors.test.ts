import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { authorizationOf, BASE } from '../support/open-gateway.ts'
import { startNode } from '../support/fake-engine.ts'
import { setupsOf, writeSetup } from '../support/reloadable.ts'
import { isAlive, spawnGateway, startWorkers } from '../support/started-workers.ts'

const WITHIN_MS = 30_000
const MSG = 'uncaught error: the process drains and ends'
const DEFECTS = [
  ['a stray rejection', 'reject-on-sigusr2.mjs', 'unhandledRejection'],
  ['an error that is thrown', 'crash-on-sigusr2.mjs', 'uncaughtException'],
] as const

/** Starts an engine that responds when the test says so, except for its version, which it sends immediately. */
async function startEngine(t: Test) {
  const held: ServerResponse[] = []
  const node = await startNode(t, ({ url }, response) => {
    if (url.endsWith('/version')) response.end('{"version":"7.24.0"}')
    else held.push(response)
  })
  const { ONE } = setupsOf(node.url + BASE)
  return { held, settings: { ...ONE, health: { probe: false } } }
}

/** Starts one process, which fails on SIGUSR2. */
async function startDefective(t: Test, preload: string, drain = '20s') {
  const { held, settings } = await startEngine(t)
  const { file, write } = await writeSetup(t)
  await write({ ...settings, timeouts: { drain } })
  const gateway = spawnGateway(t, file, { preload: new URL(`workers/${preload}`, import.meta.url).href })
  const lineOf = (msg: string) => gateway.lines().find((line) => line['msg'] === msg)
  await until(() => lineOf('listening') !== undefined, WITHIN_MS)
  const address = String(lineOf('listening')?.['address'])
  const ask = (path: string) =>
    fetch(address + BASE + path, { headers: { authorization: authorizationOf('demo') } }).then(
      ({ status }) => status,
      () => 0,
    )
  return { ...gateway, held, lineOf, ask }
}

for (const [name, preload, origin] of DEFECTS) {
  t.test(
    `${name}: running requests complete, no new ones are accepted, and the exit code is 1`,
    async (t) => {
      const { child, exit, held, lineOf, ask, lines } = await startDefective(t, preload)
      const answer = ask('/task/count')
      await until(() => held.length === 1)
      child.kill('SIGUSR2')
      await until(() => lineOf(MSG) !== undefined)
      t.match(lineOf(MSG), { level: 'fatal', origin, pid: child.pid, err: { stack: /on-sigusr2/ } })
      await until(() => lineOf('drain begins') !== undefined)
      t.match(lineOf('drain begins'), { connections: 1, busy: 1, deadlineMs: 20_000 })
      await until(async () => (await ask('/version')) === 0)
      child.kill('SIGUSR2')
      await until(() => lines().filter(({ msg }) => msg === MSG).length === 2)
      held[0]?.end('{"count":1}')
      t.equal(await answer, 200, 'though it happened once more')
      t.equal(await exit, 1)
      await until(() => lineOf('drain ended') !== undefined)
      t.match(lineOf('drain ended'), { cut: { connections: 0, busy: 0 }, tookMs: Number })
    },
  )

  t.test(`${name}: requests that do not complete are ended at the drain deadline`, async (t) => {
    const { child, exit, held, lineOf, ask } = await startDefective(t, preload, '200ms')
    const answer = ask('/task/count')
    await until(() => held.length === 1)
    child.kill('SIGUSR2')
    t.equal(await exit, 1)
    t.equal(await answer, 0)
    await until(() => lineOf('drain ended') !== undefined)
    t.match(lineOf('drain ended'), { cut: { connections: 1, busy: 1 } })
  })

  t.test(`${name} in a worker: the worker drains and is restarted, and the others serve`, async (t) => {
    const { held, settings } = await startEngine(t)
    const url = new URL(`workers/${preload}`, import.meta.url).href
    const gateway = await startWorkers(t, settings, { preload: url })
    const answers = Array.from({ length: 4 }, () => gateway.ask('/task/count').then(({ status }) => status))
    await until(() => held.length === 4)
    const pid = Number(gateway.pids().get(1))
    process.kill(pid, 'SIGUSR2')
    await gateway.line({ msg: MSG, level: 'fatal', pid })
    t.equal((await gateway.ask('/version')).status, 200)
    for (const response of held) response.end('{"count":1}')
    t.same(await Promise.all(answers), [200, 200, 200, 200])
    const ended = await gateway.line({ msg: 'worker exited; restarting', worker: 1 })
    t.match(ended, { pid, code: 1, signal: null, inMs: 0 })
    t.ok(await gateway.line({ msg: 'worker is listening', worker: 1 }, ended))
  })
}

t.test('an unhandled rejection in the primary drains all workers', async (t) => {
  const { held, settings } = await startEngine(t)
  const preload = new URL('workers/reject-on-sigusr2.mjs', import.meta.url).href
  const gateway = await startWorkers(t, settings, { preload })
  const pids = [...gateway.pids().values()]
  const answers = Array.from({ length: 4 }, () => gateway.ask('/task/count').then(({ status }) => status))
  await until(() => held.length === 4)
  gateway.kill('SIGUSR2')
  t.match(await gateway.line({ msg: MSG }), { level: 'fatal', pid: gateway.pid })
  await gateway.line({ msg: 'drain begins', pid: gateway.pid, workers: 2 })
  for (const pid of pids) await gateway.line({ msg: 'drain begins', pid })
  for (const response of held) response.end('{"count":1}')
  t.same(await Promise.all(answers), [200, 200, 200, 200])
  t.equal(await gateway.exit, 1)
  for (const pid of pids)
    t.match(await gateway.line({ msg: 'drain ended', pid }), { cut: { connections: 0 } })
  t.match(await gateway.line({ msg: 'drain ended', pid: gateway.pid }), { killed: 0 })
  t.notOk(pids.some(isAlive))
})
