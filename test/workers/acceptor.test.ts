import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { acceptWaiting } from '../../src/server/accept-waiting.ts'
import { createAcceptor } from '../../src/workers/acceptor.ts'
import { urlOf } from '../../src/tls/listener-url.ts'
import { until } from '../support/cache-harness.ts'
import { openSocket } from '../support/raw.ts'

const DRAIN_MS = 10_000

async function listen(t: Test, serve: (connection: Socket) => void = () => undefined) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const served: Socket[] = []
  const acceptor = createAcceptor((connection) => {
    served.push(connection)
    serve(connection)
  }, DRAIN_MS)
  t.teardown(() => {
    acceptor.stop()
    server.close()
    for (const socket of served) socket.destroy()
  })
  const address = urlOf(server, false)
  const connectTo = () => {
    const socket = openSocket(address)
    t.teardown(() => socket.destroy())
    return socket
  }
  return { server, served, acceptor, connectTo }
}

t.test('connections of the shared socket are served', async (t) => {
  const { server, served, acceptor, connectTo } = await listen(t)
  t.ok(acceptor.start(server))
  connectTo()
  await until(() => served.length === 1)
  t.match(served, [{ allowHalfOpen: true }])
})

t.test('a server without the internal object is not used', async (t) => {
  const { acceptor } = await listen(t)
  t.equal(acceptor.start(createServer()), null)
})

t.test('a drain accepts the connections that wait', async (t) => {
  const { server, served, acceptor, connectTo } = await listen(t)
  acceptor.start(server)
  const sockets = Array.from({ length: 20 }, connectTo)
  // The event loop has not accepted any of these connections yet.
  await Promise.all([acceptor.drain(), ...sockets.map((socket) => once(socket, 'connect'))])
  t.equal(served.length, sockets.length)
  const [error] = await once(connectTo(), 'error')
  t.match(error, { code: 'ECONNREFUSED' })
})

t.test('a drain of a busy process accepts the connections that wait, however long this takes', async (t) => {
  const busyMs = 40
  const { server, served, acceptor, connectTo } = await listen(t, () => {
    const untilMs = performance.now() + busyMs
    while (performance.now() < untilMs);
  })
  acceptor.start(server)
  const sockets = Array.from({ length: 50 }, connectTo)
  const errors: unknown[] = []
  for (const socket of sockets) socket.on('error', (error) => errors.push(error))
  const startedMs = performance.now()
  await acceptor.drain()
  t.ok(performance.now() - startedMs >= 50 * busyMs - 100)
  t.same([served.length, errors], [50, []])
})

t.test('if connections never stop, half of the drain remains for their responses', async (t) => {
  let accepted = 0
  const startedMs = performance.now()
  await acceptWaiting(() => (accepted += 1), 400)
  const tookMs = performance.now() - startedMs
  t.ok(tookMs >= 200 && tookMs < 400, `${tookMs}`)
})

t.test('a drain without a shared socket ends at once', async (t) => {
  const { acceptor } = await listen(t)
  await t.resolves(acceptor.drain())
})
