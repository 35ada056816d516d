import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startGatewayProcess } from '../engine/gateway-process.ts'
import { startNode } from '../support/fake-engine.ts'

const CLIENTS = 2000
/** The gateway serves them within two seconds on a slow machine. */
const WITHIN_MS = 20_000

for (const [what, settings] of [
  ['one process', ''],
  ['two workers', 'workers: 2'],
] as const) {
  t.test(`${CLIENTS} clients that connect while the gateway is stopped are served, ${what}`, async (t) => {
    const node = await startNode(t, (_request, response) => response.end('{"count":7}'))
    const gateway = await startGatewayProcess({ nodes: [`${node.url}/engine-rest`], settings })
    t.teardown(() => gateway.stop())
    process.kill(gateway.pid, 'SIGSTOP')
    const clients = Array.from({ length: CLIENTS }, () => startClient(gateway))
    const connected = await Promise.race([
      Promise.all(clients.map((client) => client.connected)).then(() => CLIENTS),
      delay(5000, null, { ref: false }).then(() => clients.filter((client) => client.isConnected()).length),
    ])
    t.equal(connected, CLIENTS, 'all are let in to wait')
    process.kill(gateway.pid, 'SIGCONT')
    const answers = Promise.all(clients.map((client) => client.answer))
    const late = delay(WITHIN_MS, null, { ref: false }).then(() => ['late'])
    const lines = new Set(await Promise.race([answers, late]))
    t.same([...lines], ['HTTP/1.1 200 OK'])
  })
}

function startClient({ address, headers }: { address: string; headers: Readonly<Record<string, string>> }) {
  const { port, host } = new URL(address)
  const socket = connect(Number(port), '127.0.0.1')
  let said = ''
  socket.on('data', (chunk) => (said += chunk.toString('latin1')))
  socket.on('error', ({ message }) => (said ||= message))
  socket.write(
    `GET /engine-rest/task/count HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${headers['authorization']}\r\nConnection: close\r\n\r\n`,
  )
  return {
    connected: once(socket, 'connect'),
    isConnected: () => !socket.connecting,
    /** The status line of the response, or the message of a socket error. */
    answer: once(socket, 'close').then(() => said.split('\r\n')[0]),
  }
}
