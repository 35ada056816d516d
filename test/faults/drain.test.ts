import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { type Running, start } from '../support/start.ts'
import { startNode } from '../support/fake-engine.ts'
import { authorizationOf, BASE, configOf } from '../support/open-gateway.ts'
import { head, hear, openSocket } from '../support/raw.ts'

interface Started extends Running {
  /** Responses that the engine has not sent yet. */
  readonly held: readonly ServerResponse[]
  /** Resolves when the engine has received one more request. */
  readonly asked: () => Promise<unknown>
}

/** Starts a gateway in front of an engine that responds only when the test says so. */
async function startBeforeSlowEngine(t: Test, drain = '20s'): Promise<Started> {
  const held: ServerResponse[] = []
  const news = new EventEmitter()
  const node = await startNode(t, (_request, response) => {
    held.push(response)
    news.emit('asked')
  })
  const config = configOf(t, node.url + BASE, { settings: { timeouts: { drain }, health: { probe: false } } })
  const running = await start(config, pino({ level: 'silent' }))
  return { ...running, held, asked: () => once(news, 'asked') }
}

const KEPT = [
  `GET ${BASE}/version HTTP/1.1`,
  'Host: gateway',
  `Authorization: ${authorizationOf('demo')}`,
  '\r\n',
].join('\r\n')

async function readiness({ adminAddress }: Running): Promise<number> {
  return (await fetch(`${adminAddress}/readyz`)).status
}

t.test('a drain completes running requests and then closes their connections', async (t) => {
  const running = await startBeforeSlowEngine(t)
  const socket = openSocket(running.address)
  const asked = running.asked()
  socket.write(KEPT)
  await asked
  const drained = running.drain()
  running.held[0]?.end('{"late":true}')
  t.match(await hear(socket), [{ status: 200, headers: { connection: 'close' }, body: '{"late":true}' }])
  await drained
})

t.test('a draining gateway is alive and not ready', async (t) => {
  const running = await startBeforeSlowEngine(t)
  t.equal(await readiness(running), 200)
  const asked = running.asked()
  const socket = openSocket(running.address)
  socket.write(KEPT)
  await asked
  const drained = running.drain()
  t.equal(await readiness(running), 503)
  t.equal((await fetch(`${running.adminAddress}/livez`)).status, 200)
  running.held[0]?.end()
  await drained
})

t.test('a pipelined request is served before the drain closes its connection', async (t) => {
  const running = await startBeforeSlowEngine(t)
  const socket = openSocket(running.address)
  const heard = hear(socket)
  const first = running.asked()
  socket.write(KEPT + KEPT)
  await first
  const second = running.asked()
  const drained = running.drain()
  running.held[0]?.end('1')
  await second
  running.held[1]?.end('2')
  t.match(await heard, [
    { status: 200, body: '1' },
    { status: 200, body: '2', headers: { connection: 'close' } },
  ])
  await drained
})

t.test('a drain serves a request that arrives on an idle connection within a second', async (t) => {
  const running = await startBeforeSlowEngine(t)
  const sockets = [openSocket(running.address), openSocket(running.address)]
  for (const socket of sockets) {
    socket.write(KEPT.replace('/version', '/nosuch'))
    await once(socket, 'data')
  }
  const silent = openSocket(running.address)
  await once(silent, 'connect')
  await readiness(running)
  const drained = running.drain()
  t.equal(await readiness(running), 503, 'not ready before a connection ends')
  const heard = [...sockets, silent].map((socket) => hear(socket))
  for (const [at, socket] of [...sockets, silent].entries()) {
    const asked = running.asked()
    // Two requests at once on one connection: the first response must not close it.
    socket.write(at === 1 ? KEPT + KEPT : KEPT)
    await asked
    await wait(250)
  }
  t.equal(running.held.length, 4)
  for (const answer of running.held) answer.end('late')
  const close = { status: 200, body: 'late', headers: { connection: 'close' } }
  t.match(await Promise.all(heard), [
    [close],
    [{ status: 200, headers: { connection: 'keep-alive' } }, close],
    [close],
  ])
  await drained
})

t.test('a drain closes idle connections, including those without any request', async (t) => {
  const running = await startBeforeSlowEngine(t)
  const used = openSocket(running.address)
  used.write(KEPT.replace('/version', '/nosuch'))
  const silent = openSocket(running.address)
  await Promise.all([once(used, 'data'), once(silent, 'connect')])
  const startMs = performance.now()
  const ended = Promise.all([once(used, 'close'), once(silent, 'close')])
  await Promise.all([running.drain(), ended])
  t.ok(performance.now() - startMs >= 950, 'not before a request that was on its way has come')
})

t.test('a drain serves all connections that the system has accepted', async (t) => {
  const running = await startBeforeSlowEngine(t)
  const opened = Array.from({ length: 40 }, () => openSocket(running.address))
  for (const socket of opened) socket.write(KEPT.replace('/version', '/nosuch'))
  const heard = Promise.all(opened.map((socket) => hear(socket)))
  // The earlier connections are established when the client of the last one is notified.
  await once(opened.at(-1) ?? t, 'connect')
  await running.drain()
  for (const answers of await heard) t.match(answers, [{ status: 404 }])
})

t.test('a drained gateway accepts no new connections', async (t) => {
  const running = await startBeforeSlowEngine(t)
  await running.drain()
  t.same(await hear(openSocket(running.address)), [])
  await t.rejects(fetch(`${running.adminAddress}/livez`))
})

t.test('a drain ends open requests at its deadline', async (t) => {
  const running = await startBeforeSlowEngine(t, '100ms')
  const socket = openSocket(running.address)
  const asked = running.asked()
  socket.write(KEPT)
  await asked
  const heard = hear(socket)
  await running.drain()
  t.same(await heard, [])
})

t.test('an incomplete request does not extend the deadline of a drain', async (t) => {
  const running = await startBeforeSlowEngine(t, '100ms')
  const socket = openSocket(running.address)
  socket.write(
    head(`POST ${BASE}/task`, 'Content-Type: application/json', 'Content-Length: 100').slice(0, -2),
  )
  await once(socket, 'connect')
  const heard = hear(socket)
  await running.drain()
  t.same(await heard, [])
})
