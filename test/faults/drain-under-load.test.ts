import http from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { Pool } from 'undici'
import { start } from '../support/start.ts'
import { startNode } from '../support/fake-engine.ts'
import { authorizationOf, BASE, configOf } from '../support/open-gateway.ts'
import { openSocket } from '../support/raw.ts'

const DRAINS = 4
/** Number of clients of each kind. */
const CLIENTS = 15
const PATH = `${BASE}/version`
const HEADERS = { authorization: authorizationOf('demo') }
const BYTES = `GET ${PATH} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${HEADERS.authorization}\r\n\r\n`

/** How a client's request ended. `refused` means that no connection was accepted, so nothing was sent. */
type End = number | 'refused' | 'lost'
/** Sends one request, on an existing connection if one is free. */
type Client = () => Promise<End>

function isRefused(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNREFUSED'
}

function agentOf(t: Test, address: string): Client {
  const agent = new http.Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  return () =>
    new Promise((resolve) => {
      const request = http.get(address + PATH, { agent, headers: HEADERS }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
      request.on('error', (error) => resolve(isRefused(error) ? 'refused' : 'lost'))
    })
}

function poolOf(t: Test, address: string): Client {
  const pool = new Pool(address, { connections: CLIENTS })
  t.teardown(() => pool.destroy())
  return async () => {
    try {
      const { statusCode, body } = await pool.request({ method: 'GET', path: PATH, headers: HEADERS })
      await body.text()
      return statusCode
    } catch (error) {
      return error instanceof Error && isRefused(error) ? 'refused' : 'lost'
    }
  }
}

/** Writes the next request even if the other side has just closed the connection, as load generators do. */
function socketOf(t: Test, address: string): Client {
  let socket = openSocket(address)
  t.teardown(() => socket.destroy())
  return async () => {
    if (socket.closed) socket = openSocket(address)
    if (socket.connecting && !(await comes(socket, 'connect'))) return 'refused'
    if (socket.closed) return 'refused'
    let text = ''
    const onData = (chunk: Buffer): void => void (text += chunk.toString('latin1'))
    socket.on('data', onData).write(BYTES)
    const isAnswered = await comes(socket, 'data')
    socket.off('data', onData)
    if (!isAnswered) return 'lost'
    if (/^connection: close\r$/im.test(text)) await comes(socket, 'never')
    return Number(text.split(' ')[1])
  }
}

/** Resolves to false if the connection ends before the event. */
function comes(socket: Socket, event: string): Promise<boolean> {
  if (socket.closed) return Promise.resolve(false)
  return new Promise((resolve) => socket.once(event, () => resolve(true)).once('close', () => resolve(false)))
}

async function askOn(ask: Client, ends: End[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const end = await ask()
    ends.push(end)
    if (end === 'refused') return
    await wait(Math.random() * 20)
  }
}

t.test('a drain under load responds to every request on an open connection', async (t) => {
  const node = await startNode(t, (_request, response) => setTimeout(() => response.end('{}'), 2))
  for (let drain = 1; drain <= DRAINS; drain += 1) {
    const config = configOf(t, node.url + BASE, { settings: { health: { probe: false } } })
    const running = await start(config, pino({ level: 'silent' }))
    const ends: End[] = []
    let isOver = false
    const shared = [agentOf(t, running.address), poolOf(t, running.address)]
    const clients = Array.from({ length: CLIENTS }, () => [...shared, socketOf(t, running.address)]).flat()
    const all = Promise.all(clients.map((ask) => askOn(ask, ends, () => isOver)))
    while (ends.length < clients.length * 5) await wait(10)
    const before = ends.length
    await running.drain()
    isOver = true
    await all
    t.same(
      ends.filter((end) => end !== 200 && end !== 'refused'),
      [],
      `${before} asked before drain ${drain}, ${ends.length - before} in it`,
    )
    t.ok(ends.length - before > CLIENTS, 'and some came while it drained')
  }
})
