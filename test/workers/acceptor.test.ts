import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { createAcceptor } from '../../src/workers/acceptor.ts'
import { urlOf } from '../../src/tls/listener-url.ts'
import { until } from '../support/cache-harness.ts'
import { openSocket } from '../support/raw.ts'

async function listen(t: Test) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const served: Socket[] = []
  const acceptor = createAcceptor((connection) => void served.push(connection))
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

t.test('a drain without a shared socket ends at once', async (t) => {
  const { acceptor } = await listen(t)
  await t.resolves(acceptor.drain())
})
