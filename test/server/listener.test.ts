import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { createLogger } from '../../src/log.ts'
import { createListener } from '../../src/server/listener.ts'
import { urlOf } from '../../src/tls/listener-url.ts'
import { until } from '../support/cache-harness.ts'
import { configOf } from '../support/open-gateway.ts'
import { nextBytes, openSocket } from '../support/raw.ts'
import { ACCEPT, handshake } from '../support/web-socket-node.ts'

t.test('a replaced handler ends with its last response, and not before', async (t) => {
  const config = configOf(t, 'http://engine.invalid')
  const held: ServerResponse[] = []
  const listener = createListener(config, {
    handle: (_request, response) => void held.push(response),
    metrics: { refusal: () => {} },
    log: createLogger({ level: 'error', destination: { write: () => undefined } }),
  })
  const origin = await listener.listen(config.listen)
  t.teardown(() => listener.close(Promise.resolve()))
  const textAt = async () => (await fetch(origin)).text()
  const answers = [textAt(), textAt()]
  await until(() => held.length === 2)
  let isOver = false
  const over = listener.serve((_request, response) => response.end('new')).then(() => (isOver = true))
  t.equal(await textAt(), 'new')
  held.shift()?.end('old')
  await Promise.race(answers)
  await until(() => listener.load().busy === 1)
  t.equal(isOver, false)
  held.shift()?.end('old')
  t.same(await Promise.all(answers), ['old', 'old'])
  await over
  t.same(listener.load().busy, 0)
  await listener.serve((_request, response) => response.end('newest'))
  t.equal(await textAt(), 'newest', 'with nothing under way it is over at once')
})

t.test(
  'connections that another server has accepted are counted, and refused beyond the limit',
  async (t) => {
    const refused: string[] = []
    const listener = createListener(configOf(t, 'http://engine.invalid'), {
      handle: (_request, response) => response.end(),
      metrics: { refusal: ({ reason }) => void refused.push(reason) },
      log: createLogger({ level: 'error', destination: { write: () => undefined } }),
      maxConnections: 2,
    })
    t.teardown(() => listener.close(Promise.resolve()))
    const server = createServer(listener.serveConnection).listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    await once(server, 'listening')
    const address = urlOf(server, false)
    const first = openSocket(address)
    await until(() => listener.connectionCounts().open === 1)
    const second = openSocket(address)
    t.teardown(() => second.destroy())
    await until(() => listener.connectionCounts().open === 2)
    await once(openSocket(address), 'close')
    t.same(refused, ['too-many-connections'])
    t.same(listener.connectionCounts(), { open: 2, ended: 0 })
    first.destroy()
    await until(() => listener.connectionCounts().ended === 1)
    t.same(listener.connectionCounts(), { open: 1, ended: 1 })
    const third = openSocket(address)
    t.teardown(() => third.destroy())
    await until(() => listener.connectionCounts().open === 2)
    t.equal(refused.length, 1)
  },
)

/** Opens a listener that accepts every upgrade, and a connection that was upgraded. */
async function openUpgraded(t: Test) {
  const config = configOf(t, 'http://engine.invalid')
  const listener = createListener(config, {
    handle: (_request, response) => response.end(),
    upgrades: {
      accepts: () => true,
      handle: (_request, response) => {
        response.writeHead(101, {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-accept': ACCEPT,
        })
        response.flushHeaders()
        const { socket } = response
        socket?.resume().on('end', () => socket.destroy())
      },
    },
    metrics: { refusal: () => {} },
    log: createLogger({ level: 'error', destination: { write: () => undefined } }),
  })
  t.teardown(() => listener.close(Promise.resolve()))
  const socket = openSocket(await listener.listen(config.listen))
  t.teardown(() => socket.destroy())
  socket.write(handshake('/app'))
  t.match(await nextBytes(socket), /^HTTP\/1.1 101 /)
  return { listener, socket }
}

t.test('an upgraded connection keeps its handler until it ends', async (t) => {
  const { listener, socket } = await openUpgraded(t)
  t.same(listener.load(), { connections: 1, busy: 1 })
  let isOver = false
  const over = listener.serve((_request, response) => response.end()).then(() => (isOver = true))
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(isOver, false)
  socket.destroy()
  await over
})

t.test('an upgraded connection is cut at the end of a drain, and not before', async (t) => {
  const { listener, socket } = await openUpgraded(t)
  const { promise: deadline, resolve: end } = Promise.withResolvers<void>()
  const closed = listener.close(deadline)
  // Longer than an idle connection stays open in a drain.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  t.equal(socket.closed, false)
  end()
  t.same(await closed, { connections: 1, busy: 1 })
  socket.resume()
  if (!socket.closed) await once(socket, 'close')
})
