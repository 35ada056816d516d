import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Connections, watchConnections } from '../../src/server/connections.ts'
import { until } from '../support/cache-harness.ts'
import { hear, openSocket } from '../support/raw.ts'
import { listenUntilEnd } from '../support/listen-until-end.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: gateway\r\n\r\n'
/** Longer than an idle connection stays open during a drain. */
const LONG_MS = 1100

interface Opened {
  readonly connections: Connections
  /** Pending responses, in the order of their requests. */
  readonly held: ServerResponse[]
  readonly open: () => Promise<Socket>
}

async function openServer(t: Test): Promise<Opened> {
  const held: ServerResponse[] = []
  const server = createServer((request, response) => {
    connections.begun(request, response)
    response.on('close', () => connections.ended(request, response))
    held.push(response)
  })
  const connections = watchConnections(server)
  const url = await listenUntilEnd(t, server)
  const open = async () => {
    const count = connections.count()
    const socket = openSocket(url)
    await until(() => connections.count() > count)
    return socket
  }
  return { connections, held, open }
}

t.test('all connections and those with a pending response are counted', async (t) => {
  const { connections, held, open } = await openServer(t)
  t.same(connections.load(), { connections: 0, busy: 0 })
  const [socket] = [await open(), await open()]
  t.same(connections.load(), { connections: 2, busy: 0 })
  socket.write(REQUEST)
  await until(() => held.length === 1)
  t.same(connections.load(), { connections: 2, busy: 1 })
  held[0]?.end()
  await until(() => connections.load().busy === 0)
  t.same(connections.load(), { connections: 2, busy: 0 })
  socket.destroy()
  await until(() => connections.count() === 1)
})

t.test(
  'responses that are pending when a drain begins close their connections, and other responses do not',
  async (t) => {
    const { connections, held, open } = await openServer(t)
    const [busy, idle] = [await open(), await open()]
    busy.write(REQUEST)
    await until(() => held.length === 1)
    connections.endBusy()
    idle.write(REQUEST)
    await until(() => held.length === 2)
    const heard = hear(busy)
    for (const response of held) response.end()
    t.match(await heard, [{ headers: { connection: 'close' } }])
    t.match(String(await once(idle, 'data')), /Connection: keep-alive/)
  },
)

t.test('the last response to two requests on one connection closes it', async (t) => {
  const { connections, held, open } = await openServer(t)
  const socket = await open()
  connections.endAll().catch(() => undefined)
  const heard = hear(socket)
  socket.write(REQUEST + REQUEST)
  await until(() => held.length === 2)
  for (const response of held) response.end()
  t.match(await heard, [{ headers: { connection: 'keep-alive' } }, { headers: { connection: 'close' } }])
})

t.test(
  'an idle connection is closed after it was idle for a second of the drain, and not before',
  async (t) => {
    const { connections, open } = await openServer(t)
    const socket = await open()
    await wait(LONG_MS)
    const ended = connections.endAll()
    connections.sweep()
    t.notOk(await isClosed(socket), 'the drain has just begun')
    await wait(LONG_MS)
    t.equal(connections.count(), 1, 'nobody has swept')
    connections.sweep()
    await ended
    t.equal(connections.count(), 0)
  },
)

t.test('a connection with a pending response or an incomplete request is not idle', async (t) => {
  const { connections, held, open } = await openServer(t)
  const [due, next, half] = [await open(), await open(), await open()]
  due.write(REQUEST)
  await until(() => held.length === 1)
  next.write(REQUEST + REQUEST)
  await until(() => held.length === 3)
  held[1]?.end()
  await once(next, 'data')
  const ended = connections.endAll()
  half.write(REQUEST.slice(0, 20))
  await wait(LONG_MS)
  connections.sweep()
  for (const socket of [due, next, half]) t.notOk(await isClosed(socket))
  half.write(REQUEST.slice(20))
  await until(() => held.length === 4)
  const heard = Promise.all([due, next, half].map((socket) => hear(socket)))
  for (const response of held) response.end()
  const closing = [{ status: 200, headers: { connection: 'close' } }]
  t.match(await heard, [closing, closing, closing])
  await ended
})

t.test('a connection that opens during a drain is closed by its response, too', async (t) => {
  const { connections, held, open } = await openServer(t)
  const first = await open()
  const ended = connections.endAll()
  const late = await open()
  const heard = hear(late)
  late.write(REQUEST)
  await until(() => held.length === 1)
  held[0]?.end()
  t.match(await heard, [{ headers: { connection: 'close' } }])
  first.destroy()
  await ended
})

t.test('a drain without connections ends at once', async (t) => {
  const { connections } = await openServer(t)
  await connections.endAll()
  t.equal(connections.count(), 0)
})

async function isClosed(socket: Socket): Promise<boolean> {
  // A reset by the peer is visible one or two turns of the event loop later.
  await wait(20)
  return socket.closed
}
