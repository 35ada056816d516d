import { pino } from 'pino'
import t, { type Test } from 'tap'
import { type Running, start } from '../support/start.ts'
import { FETCH, type PollingNode, startPollingNode } from '../support/polling.ts'
import { startReloadable } from '../support/reloadable.ts'
import { BASE, configOf } from '../support/open-gateway.ts'
import { head, hear, openSocket, type RawAnswer } from '../support/raw.ts'

interface Started extends Running {
  readonly node: PollingNode
}

async function startBeforePollingNode(
  t: Test,
  longPolls: Readonly<Record<string, unknown>> = {},
  drain = '20s',
): Promise<Started> {
  const node = await startPollingNode(t)
  const config = configOf(t, node.url + BASE, {
    settings: { timeouts: { drain }, health: { probe: false }, limits: { longPolls } },
    engines: {
      default: { nodes: [node.url + BASE], service: { username: 'gateway', password: 'secret' } },
    },
  })
  return { node, ...(await start(config, pino({ level: 'silent' }))) }
}

function pollOf(holdMs: number): string {
  const body = JSON.stringify({
    workerId: 'w',
    maxTasks: 1,
    asyncResponseTimeout: holdMs,
    topics: [{ topicName: 'work', lockDuration: 60_000 }],
  })
  const type = ['Content-Type: application/json', `Content-Length: ${body.length}`]
  return head(`POST ${BASE}${FETCH}`, ...type) + body
}

function ask(running: Pick<Running, 'address'>, holdMs: number): Promise<readonly RawAnswer[]> {
  const socket = openSocket(running.address)
  socket.write(pollOf(holdMs))
  return hear(socket)
}

async function metricsOf({ adminAddress }: Running): Promise<string> {
  return (await fetch(`${adminAddress}/metrics`)).text()
}

t.test('a poll without a response of the engine returns an empty list in time', async (t) => {
  const running = await startBeforePollingNode(t)
  t.match(await ask(running, 50), [
    { status: 200, body: '[]', headers: { 'content-type': 'application/json', 'content-length': '2' } },
  ])
  t.match(await metricsOf(running), 'gateway_long_polls_ended_total{engine="default",reason="time"} 1')
  t.match(await metricsOf(running), 'gateway_long_polls{engine="default",state="abandoned"} 1')
  running.node.end()
  await running.drain()
})

const LOCKED_TASK = { id: 'task', workerId: 'w', lockExpirationTime: '2999-01-31T12:00:00.000+0000' }

t.test('tasks are sent to the worker as the engine sent them', async (t) => {
  const running = await startBeforePollingNode(t)
  const answers = ask(running, 60_000)
  await running.node.came(1)
  running.node.held.shift()?.answer([{ id: 'task' }])
  t.match(await answers, [{ status: 200, body: '[{"id":"task"}]' }])
  await running.drain()
})

t.test('tasks locked for a disconnected worker are unlocked by the gateway', async (t) => {
  const running = await startBeforePollingNode(t)
  const { node } = running
  const socket = openSocket(running.address)
  socket.write(pollOf(60_000))
  await node.came(1)
  const left = leftOf(running)
  socket.destroy()
  await left
  node.held.shift()?.answer([LOCKED_TASK])
  await node.wasAsked(1)
  t.same(node.asked, [`POST ${BASE}/external-task/task/unlock`])
  await running.drain()
  t.same(node.askedAs, [`Basic ${Buffer.from('gateway:secret').toString('base64')}`])
})

/** Resolves when the gateway has noticed that a worker disconnected. */
async function leftOf(running: Running): Promise<void> {
  const isLeft = async (): Promise<boolean> => (await metricsOf(running)).includes('reason="left"} 1')
  while (!(await isLeft()));
}

t.test('a drain ends open polls immediately and unlocks tasks that arrive later', async (t) => {
  const running = await startBeforePollingNode(t)
  const { node } = running
  const answers = ask(running, 60_000)
  await node.came(1)
  const drained = running.drain()
  t.match(await answers, [{ status: 200, body: '[]', headers: { connection: 'close' } }])
  node.held.shift()?.answer([LOCKED_TASK])
  await drained
  t.same(node.asked, [`POST ${BASE}/external-task/task/unlock`])
})

t.test('a drain waits for an engine no longer than its deadline', async (t) => {
  const running = await startBeforePollingNode(t, {}, '100ms')
  const answers = ask(running, 60_000)
  await running.node.came(1)
  await running.drain()
  t.match(await answers, [{ status: 200, body: '[]' }])
  running.node.end()
})

t.test('other requests are served while all poll slots are in use', async (t) => {
  const running = await startBeforePollingNode(t, { perNode: 1, waiting: 1 })
  const polls = [ask(running, 60_000), ask(running, 60_000)]
  await running.node.came(1)
  const socket = openSocket(running.address)
  socket.write(head(`GET ${BASE}/version`))
  t.match(await hear(socket), [{ status: 200 }])
  running.node.end()
  await Promise.all([running.drain(), ...polls])
})

t.test('polls of a replaced configuration end after the drain timeout', async (t) => {
  const node = await startPollingNode(t)
  t.teardown(() => node.end())
  const settings = (perNode: number) => ({
    engines: { default: { nodes: [node.url + BASE] } },
    timeouts: { drain: '100ms' },
    health: { probe: false },
    limits: { longPolls: { perNode } },
  })
  const { running, reload } = await startReloadable(t, settings(1))
  const answers = ask(running, 60_000)
  await node.came(1)
  t.match(await reload(settings(2)), { status: 200 })
  t.match(await answers, [{ status: 200, body: '[]' }])
})

t.test('a poll that the engine refuses returns the response of the engine', async (t) => {
  const running = await startBeforePollingNode(t)
  const answers = ask(running, 1_800_001)
  await running.node.came(1)
  running.node.held.shift()?.answer({ type: 'InvalidRequestException' }, 400)
  t.match(await answers, [{ status: 400, body: '{"type":"InvalidRequestException"}' }])
  await running.drain()
})
