import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { javaSkip } from '../../support/requirements.ts'
import { startEngine } from '../../engine/engine.ts'
import { exchange } from '../../engine/exchange.ts'
import { startGateway } from '../../engine/gateway.ts'
import { seed } from '../../engine/seed.ts'

/** Polls as a worker that disconnects when the engine holds its poll. */
async function pollAndLeave(base: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const polling = request(`${base}/external-task/fetchAndLock`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', ...headers },
  })
  polling.on('error', () => {})
  polling.end(
    JSON.stringify({
      workerId: 'gone',
      maxTasks: 5,
      asyncResponseTimeout: 60_000,
      topics: [{ topicName: 'work', lockDuration: 600_000 }],
    }),
  )
  await wait(1000)
  polling.destroy()
  await wait(200)
}

/** Returns the worker that holds each task of the topic, or null for a task without a lock. */
async function holders(base: string): Promise<readonly unknown[]> {
  const { body } = await exchange(base, { method: 'GET', path: '/external-task' })
  return Array.isArray(body) ? body.filter(isRecord).map(({ workerId }) => workerId) : []
}

/** Waits until all tasks have this holder. An engine checks its polls when a task appears. */
async function heldBy(base: string, worker: string | null): Promise<readonly unknown[]> {
  for (let tries = 0; tries < 50 && !(await holders(base)).every((one) => one === worker); tries += 1)
    await wait(100)
  return holders(base)
}

void test('tasks of a worker that has left', { skip: javaSkip }, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())

  await t.test('without a gateway, the engine locks tasks for a disconnected worker', async (t) => {
    await pollAndLeave(engine.base)
    await seed(engine.base)
    t.same(await heldBy(engine.base, 'gone'), ['gone'])
  })

  await t.test('the gateway unlocks tasks of a disconnected worker', async (t) => {
    const gateway = await startGateway(engine.base)
    const second = `${engine.base}/engine/second`
    await pollAndLeave(`${gateway.base}/engine/second`, gateway.headers)
    await seed(second)
    const unlocked = 'gateway_long_polls_unlocked_total{engine="second",result="unlocked"} 1'
    const metrics = async () => (await fetch(`${gateway.adminAddress}/metrics`)).text()
    for (let tries = 0; tries < 50 && !(await metrics()).includes(unlocked); tries += 1) await wait(100)
    t.match(await metrics(), unlocked)
    t.same(await heldBy(second, null), [null])
    await gateway.drain()
  })
})
