import { once } from 'node:events'
import t from 'tap'
import { startNode } from '../../support/fake-engine.ts'
import { BASE } from '../../support/open-gateway.ts'
import { get, hear, openSocket } from '../../support/raw.ts'
import { setupsOf } from '../../support/reloadable.ts'
import { freezeSharing } from '../../support/shared-port.ts'
import { type Started, startWorkers } from '../../support/started-workers.ts'

const node = await startNode(t)
const settings = { ...setupsOf(node.url + BASE).ONE, log: { level: 'debug' } }

/** Opens connections that no process accepts yet, and sends a request on each. */
async function openWaiting(gateway: Started) {
  const sockets = Array.from({ length: 50 }, () => openSocket(gateway.address))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) socket.write(get('/nosuch'))
  const closed = new Set<unknown>()
  for (const socket of sockets) socket.once('close', () => closed.add(socket))
  const statuses = Promise.all(
    sockets.map(async (socket) => {
      const [answer] = await hear(socket)
      return answer?.status ?? 0
    }),
  )
  return { closed, statuses }
}

const SERVED = Array.from({ length: 50 }, () => 404)

t.test('a killed worker loses no connection that waits in the shared port', async (t) => {
  const gateway = await startWorkers(t, settings)
  const [victim = 0, other = 0] = await freezeSharing(t, gateway)
  const { statuses } = await openWaiting(gateway)
  process.kill(victim, 'SIGKILL')
  process.kill(other, 'SIGCONT')
  t.same(await statuses, SERVED)
})

t.test('if all workers are killed, connections wait in the primary', async (t) => {
  const gateway = await startWorkers(t, settings)
  const pids = await freezeSharing(t, gateway)
  const { closed } = await openWaiting(gateway)
  const before = gateway.lines().at(-1)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  const ended = await gateway.line({ msg: 'worker exited; restarting' }, before)
  await gateway.line({ msg: 'worker exited; restarting' }, ended)
  t.equal(closed.size, 0)
})

t.test('SIGTERM serves the connections that wait in the shared port', async (t) => {
  const gateway = await startWorkers(t, settings)
  const pids = await freezeSharing(t, gateway)
  const { statuses } = await openWaiting(gateway)
  gateway.kill('SIGTERM')
  for (const pid of pids) process.kill(pid, 'SIGCONT')
  t.same(await statuses, SERVED)
  t.equal(await gateway.exit, 0)
})

t.test('SIGTERM to one worker serves the connections that wait in the shared port', async (t) => {
  const gateway = await startWorkers(t, settings)
  const pids = await freezeSharing(t, gateway)
  const { statuses } = await openWaiting(gateway)
  process.kill(Number(pids[0]), 'SIGTERM')
  for (const pid of pids) process.kill(pid, 'SIGCONT')
  t.same(await statuses, SERVED)
})

t.test(
  'if the primary is killed, the workers serve the connections that wait in the shared port',
  async (t) => {
    const gateway = await startWorkers(t, settings)
    const pids = await freezeSharing(t, gateway)
    const { statuses } = await openWaiting(gateway)
    gateway.kill('SIGKILL')
    await gateway.exit
    for (const pid of pids) process.kill(pid, 'SIGCONT')
    t.same(await statuses, SERVED)
  },
)

t.test('the connections of a worker that hangs are accepted by the others', async (t) => {
  const gateway = await startWorkers(t, settings)
  const [hanging = 0, other = 0] = await freezeSharing(t, gateway)
  process.kill(other, 'SIGCONT')
  const { statuses } = await openWaiting(gateway)
  t.same(await statuses, SERVED)
  process.kill(hanging, 'SIGCONT')
})
