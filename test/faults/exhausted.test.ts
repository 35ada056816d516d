import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { Agent, type OutgoingHttpHeaders, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startGatewayProcess } from '../engine/gateway-process.ts'
import { startNode } from '../support/fake-engine.ts'

const MAX_OPEN_FILES = 80
const CLIENTS = 200
/** Number of earlier connections, which send requests at the same time. */
const STANDING = 10
const ALL_GOOD = Array.from({ length: STANDING }, () => 200)

t.test('more clients connect than the process may open files', async (t) => {
  const node = await startNode(t, ({ url }, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(url.endsWith('/engine') ? '[{"name":"default"}]' : '{"count":7}')
  })
  const gateway = await startGatewayProcess({
    nodes: [`${node.url}/engine-rest`],
    maxOpenFiles: MAX_OPEN_FILES,
  })
  t.teardown(() => gateway.stop())
  const ask = (by: Agent | false) => statusOf(`${gateway.base}/task/count`, by, gateway.headers)
  const agents = Array.from({ length: STANDING }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  t.teardown(() => agents.forEach((agent) => agent.destroy()))
  t.same(await Promise.all(agents.map(ask)), ALL_GOOD)
  const clients = crowd(Number(new URL(gateway.address).port))
  t.teardown(() => clients.leave())
  await clients.areRefused(CLIENTS - MAX_OPEN_FILES / 2 + STANDING)

  await t.test(
    'half of the files are reserved for the gateway itself, and further connections are refused',
    async (t) => {
      const open = await readdir(`/proc/${gateway.pid}/fd`)
      t.ok(open.length < MAX_OPEN_FILES, `${open.length} files`)
      t.equal(await ask(false), 'ECONNRESET')
      const metrics = await (await fetch(`${gateway.adminAddress}/metrics`)).text()
      t.match(metrics, /gateway_refusals_total\{.*reason="too-many-connections"\} 1\d\d/)
    },
  )

  await t.test('earlier connections and probes are still served', async (t) => {
    t.same(await Promise.all(agents.map(ask)), ALL_GOOD)
    t.equal((await fetch(`${gateway.adminAddress}/livez`)).status, 200)
  })

  await t.test('new connections are served by the same process when the clients disconnect', async (t) => {
    clients.leave()
    const deadlineMs = performance.now() + 5000
    while ((await ask(false)) !== 200 && performance.now() < deadlineMs) await delay(50)
    t.equal(await ask(false), 200)
    t.same(await Promise.all(agents.map(ask)), ALL_GOOD)
  })
})

/** Opens clients that connect and send nothing. */
function crowd(port: number) {
  const sockets: Socket[] = []
  for (let one = 0; one < CLIENTS; one += 1) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
  }
  return {
    areRefused: async (count: number) => {
      while (sockets.filter(({ closed }) => closed).length < count) await delay(20)
    },
    leave: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Returns the status, or the code of the error. `false` as agent opens a new connection. */
async function statusOf(
  url: string,
  agent: Agent | false,
  headers: OutgoingHttpHeaders,
): Promise<number | string> {
  try {
    const [response] = await once(request(url, { agent, headers }).end(), 'response')
    response.resume()
    await once(response, 'end')
    return Number(response.statusCode)
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}
