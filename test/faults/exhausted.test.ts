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
/** Connections from before, which ask all at once. */
const STANDING = 10
const ALL_GOOD = Array.from({ length: STANDING }, () => 200)

t.test('more clients come than the process may have files open', async (t) => {
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
    'half of the files are kept for the gateway itself, those that come are turned away',
    async (t) => {
      const open = await readdir(`/proc/${gateway.pid}/fd`)
      t.ok(open.length < MAX_OPEN_FILES, `${open.length} files`)
      t.equal(await ask(false), 'ECONNRESET')
      const metrics = await (await fetch(`${gateway.adminAddress}/metrics`)).text()
      t.match(metrics, /gateway_refusals_total\{.*reason="too-many-connections"\} 1\d\d/)
    },
  )

  await t.test('all connections that stood before are served, and so are probes', async (t) => {
    t.same(await Promise.all(agents.map(ask)), ALL_GOOD)
    t.equal((await fetch(`${gateway.adminAddress}/livez`)).status, 200)
  })

  await t.test('when they leave, new ones are served at once, by the same process', async (t) => {
    clients.leave()
    const deadlineMs = performance.now() + 5000
    while ((await ask(false)) !== 200 && performance.now() < deadlineMs) await delay(50)
    t.equal(await ask(false), 200)
    t.same(await Promise.all(agents.map(ask)), ALL_GOOD)
  })
})

/** Clients that connect and say nothing. */
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

/** Or what is wrong. `false`: on a connection of its own. */
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
