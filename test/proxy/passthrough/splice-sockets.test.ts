import { once } from 'node:events'
import net from 'node:net'
import t, { type Test } from 'tap'
import { type SocketEnd, spliceSockets } from '../../../src/proxy/passthrough/splice-sockets.ts'

/** Returns both ends of a connection. */
async function openPair(t: Test): Promise<readonly [net.Socket, net.Socket]> {
  const server = net.createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const near = net.connect(port, '127.0.0.1')
  const [far]: net.Socket[] = await once(server, 'connection')
  server.close()
  if (far === undefined) throw new Error('no connection')
  for (const socket of [near, far]) {
    socket.on('error', () => {})
    t.teardown(() => socket.destroy())
  }
  return [near, far]
}

async function splice(t: Test, prepare: (client: net.Socket) => Promise<void> = () => Promise.resolve()) {
  const [[browser, client], [application, node]] = [await openPair(t), await openPair(t)]
  await prepare(client)
  let bytes = 0
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<SocketEnd>()
  const close = spliceSockets({ client, node, idleMs: 60_000, onBytes: (length) => (bytes += length), onEnd })
  return { browser, application, ended, close, bytes: () => bytes }
}

t.test('the last bytes of the application reach the client before the end', async (t) => {
  const { browser, application, ended, bytes } = await splice(t)
  let read = 0
  browser.on('data', (chunk) => (read += chunk.length))
  application.end(Buffer.alloc(1_000_000))
  await once(browser, 'end')
  t.equal(read, 1_000_000)
  t.equal(await ended, 'peer')
  t.equal(bytes(), 1_000_000)
})

t.test('both sockets are closed if one of them is closed, with the reason', async (t) => {
  const { browser, application, ended, close } = await splice(t)
  browser.resume()
  application.resume()
  close('age')
  await Promise.all([once(browser, 'end'), once(application, 'end')])
  t.equal(await ended, 'age')
})

t.test('a client that was closed before ends the connection of the application', async (t) => {
  const { application, ended } = await splice(t, async (client) => {
    client.destroy()
    await once(client, 'close')
  })
  application.resume()
  t.equal(await ended, 'peer')
})
