import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../../support/cache-harness.ts'
import { authorizationOf, BASE } from '../../support/open-gateway.ts'
import { get, hear, nextBytes, openSocket } from '../../support/raw.ts'
import { startNode } from '../../support/fake-engine.ts'
import { setupsOf } from '../../support/reloadable.ts'
import { isAlive, type Started, startWorkers } from '../../support/started-workers.ts'

/** Starts two workers in front of an engine that responds when the test says so, with four requests in flight. */
async function startBusy(t: Test, settings: Readonly<Record<string, unknown>> = {}, detached = false) {
  const held: ServerResponse[] = []
  const node = await startNode(t, (_request, response) => void held.push(response))
  const { ONE } = setupsOf(node.url + BASE)
  const gateway = await startWorkers(t, { ...ONE, ...settings }, { detached })
  const answers = Array.from({ length: 4 }, () =>
    gateway.ask('/version').then(
      ({ status }) => status,
      () => 0,
    ),
  )
  await until(() => held.length === 4)
  return { gateway, answers, held, pids: [...gateway.pids().values()] }
}

async function isNotReady({ admin }: Started): Promise<boolean> {
  return (await admin('/readyz')).status === 503
}

t.test('a drain completes running requests, and the gateway is not ready meanwhile', async (t) => {
  const { gateway, answers, held, pids } = await startBusy(t)
  gateway.kill('SIGTERM')
  await until(() => isNotReady(gateway))
  t.match((await gateway.admin('/readyz?verbose')).text, '[-] drain shutting down')
  t.equal((await gateway.admin('/livez')).status, 200)
  for (const response of held) response.end('{}')
  t.same(await Promise.all(answers), [200, 200, 200, 200])
  t.equal(await gateway.exit, 0)
  t.notOk(pids.some(isAlive))
  t.same(
    gateway.lines().filter(({ level }) => level === 'error'),
    [],
  )
})

t.test('a drain serves a request on an idle connection and then closes the connection', async (t) => {
  const { gateway, answers, held } = await startBusy(t)
  const bytes = [
    `GET ${BASE}/nosuch HTTP/1.1`,
    'Host: gateway',
    `Authorization: ${authorizationOf('demo')}`,
    '\r\n',
  ].join('\r\n')
  const sockets = Array.from({ length: 4 }, () => openSocket(gateway.address))
  for (const socket of sockets) {
    socket.write(bytes)
    t.notMatch(await nextBytes(socket), /^connection: close\r$/im)
  }
  gateway.kill('SIGTERM')
  await until(() => isNotReady(gateway))
  // For a few milliseconds, until no connection waits to be accepted, responses still keep their connection open.
  for (const socket of sockets)
    await until(async () => {
      socket.write(bytes)
      return /^connection: close\r$/im.test(await nextBytes(socket))
    })
  for (const response of held) response.end('{}')
  t.same(await Promise.all(answers), [200, 200, 200, 200])
  t.equal(await gateway.exit, 0)
})

t.test('SIGINT to the whole process group, as by Ctrl-C, drains in the same way', async (t) => {
  const { gateway, answers, held, pids } = await startBusy(t, {}, true)
  process.kill(-gateway.pid, 'SIGINT')
  await until(() => isNotReady(gateway))
  for (const response of held) response.end('{}')
  t.same(await Promise.all(answers), [200, 200, 200, 200])
  t.equal(await gateway.exit, 0)
  t.notOk(pids.some(isAlive))
})

t.test('a repeated signal does not shorten the drain', async (t) => {
  const { gateway, answers, held } = await startBusy(t, {}, true)
  for (const signal of ['SIGTERM', 'SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
    process.kill(-gateway.pid, signal)
    await delay(20)
  }
  await until(() => isNotReady(gateway))
  for (const response of held) response.end('{}')
  t.same(await Promise.all(answers), [200, 200, 200, 200])
  t.equal(await gateway.exit, 0)
})

t.test('a second Ctrl-C after more than a second ends the gateway immediately', async (t) => {
  const { gateway, answers, pids } = await startBusy(t, {}, true)
  process.kill(-gateway.pid, 'SIGINT')
  await until(() => isNotReady(gateway))
  await delay(1100)
  process.kill(-gateway.pid, 'SIGINT')
  t.equal(await gateway.exit, 130)
  t.same(await Promise.all(answers), [0, 0, 0, 0])
  await until(() => !pids.some(isAlive))
})

t.test('workers end open requests at the deadline of a drain', async (t) => {
  const { gateway, answers, pids } = await startBusy(t, { timeouts: { drain: '200ms' } })
  gateway.kill('SIGTERM')
  t.equal(await gateway.exit, 0)
  t.same(await Promise.all(answers), [0, 0, 0, 0])
  t.notOk(pids.some(isAlive))
})

t.test('a worker that does not exit is killed', async (t) => {
  const { gateway, answers, pids } = await startBusy(t, { timeouts: { drain: '200ms' } })
  const [stuck = 0] = pids
  process.kill(stuck, 'SIGSTOP')
  gateway.kill('SIGTERM')
  t.equal(await gateway.exit, 0)
  await Promise.all(answers)
  t.notOk(isAlive(stuck))
})

t.test('connections that wait to be accepted at SIGTERM are served', async (t) => {
  const { gateway, answers, held } = await startBusy(t)
  for (const response of held) response.end('{}')
  t.same(await Promise.all(answers), [200, 200, 200, 200])
  process.kill(gateway.pid, 'SIGSTOP')
  const sockets = Array.from({ length: 200 }, () => openSocket(gateway.address))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) socket.write(get('/nosuch'))
  const heard = Promise.all(sockets.map((socket) => hear(socket)))
  gateway.kill('SIGTERM')
  gateway.kill('SIGCONT')
  t.equal((await heard).filter(([answer]) => answer?.status === 404).length, sockets.length)
  t.equal(await gateway.exit, 0)
})

t.test('requests that arrive at SIGTERM are served', async (t) => {
  const node = await startNode(t)
  const gateway = await startWorkers(t, setupsOf(node.url + BASE).ONE)
  const statuses: number[] = []
  const kept = { headers: { connection: 'keep-alive' } }
  const clients = Array.from({ length: 4 }, async () => {
    for (;;) {
      const begun = node.seen.length
      const response = await gateway.ask('/version', kept).catch(() => null)
      // A refused connection is not a request.
      if (response === null) return node.seen.length - begun
      statuses.push(response.status)
    }
  })
  await until(() => statuses.length > 50)
  gateway.kill('SIGTERM')
  await Promise.all(clients)
  t.equal(await gateway.exit, 0)
  t.ok(statuses.every((status) => status === 200))
  // Each request that reached the engine got its response.
  t.equal(statuses.length, node.seen.length)
})
