import { EventEmitter, once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { ProcessExitedError } from '../../../src/workers/calls.ts'
import { createPort, type ConnectionReceiver } from '../../../src/workers/port.ts'
import { urlOf } from '../../../src/tls/listener-url.ts'
import { until } from '../../support/cache-harness.ts'
import { configOf } from '../../support/open-gateway.ts'
import { openSocket } from '../../support/raw.ts'

interface FakeTaker extends ConnectionReceiver {
  readonly taken: Socket[]
  /** Returns whether the worker was notified that no further connection follows. */
  readonly isReleased: () => boolean
  readonly leave: () => void
}

function createTaker(
  handOver: (connection: Socket) => Promise<unknown> = () => Promise.resolve(),
): FakeTaker {
  const taken: Socket[] = []
  const left = new AbortController()
  let isReleased = false
  return {
    taken,
    isReleased: () => isReleased,
    leave: () => left.abort(),
    countConnections: () => Promise.resolve({ open: 0, ended: 0 }),
    accept: () => Promise.resolve(null),
    stopAccepting: () => Promise.resolve(),
    draining: once(left.signal, 'abort').then(() => undefined),
    endConnections: () => void (isReleased = true),
    handOver: (connection) => {
      if (isReleased) throw new Error('It was told that none comes any more')
      taken.push(connection)
      return handOver(connection)
    },
  }
}

async function openPort(t: Test, options: { readonly maxConnections?: number } = {}) {
  const refused: string[] = []
  const port = createPort(configOf(t, 'http://127.0.0.1:1/engine-rest'), {
    metrics: { refusal: ({ reason }) => void refused.push(reason) },
    log: pino({ level: 'silent' }),
    ...options,
  })
  t.teardown(() => port.close(Promise.resolve()))
  const address = await port.listen({ host: '127.0.0.1', port: 0 })
  const connectAll = async (count: number) => {
    const sockets = Array.from({ length: count }, () => openSocket(address))
    t.teardown(() => sockets.forEach((socket) => socket.destroy()))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    return sockets
  }
  return { port, address, connectAll, refused }
}

t.test('connections are distributed to the workers in turn', async (t) => {
  const { port, connectAll } = await openPort(t)
  const [first, second] = [createTaker(), createTaker()]
  port.add(first)
  port.add(second)
  for (let count = 1; count <= 6; count += 1) {
    await connectAll(1)
    await until(() => first.taken.length + second.taken.length === count)
  }
  t.same([first.taken.length, second.taken.length], [3, 3])
})

t.test('a worker that has not accepted its last connection gets no other', async (t) => {
  const { port, connectAll } = await openPort(t)
  const [busy, idle] = [createTaker(() => new Promise(() => undefined)), createTaker()]
  port.add(busy)
  port.add(idle)
  await connectAll(5)
  await until(() => busy.taken.length + idle.taken.length === 5)
  t.equal(busy.taken.length, 1)
})

t.test('a connection that an exited worker had not accepted goes to another worker', async (t) => {
  const { port, connectAll } = await openPort(t)
  const end = new EventEmitter()
  const isGone = once(end, 'end').then(() => {
    throw new ProcessExitedError('has exited')
  })
  const [ending, other] = [createTaker(() => isGone), createTaker(() => new Promise(() => undefined))]
  port.add(ending)
  await connectAll(1)
  await until(() => ending.taken.length === 1)
  port.add(other)
  end.emit('end')
  await until(() => other.taken.length === 1)
  t.equal(other.taken[0], ending.taken[0])
  t.notOk(other.taken[0]?.destroyed)
  await connectAll(1)
  t.equal(ending.taken.length, 1, 'it is given nothing any more')
})

t.test('without a worker, connections wait for one', async (t) => {
  const { port, connectAll } = await openPort(t)
  const first = createTaker()
  port.add(first)
  first.leave()
  await until(() => first.isReleased())
  const sockets = await connectAll(2)
  // On a busy processor, the start of a worker takes longer than five seconds.
  await wait(6000)
  t.notOk(sockets.some(({ destroyed }) => destroyed))
  const next = createTaker()
  port.add(next)
  await until(() => next.taken.length === 2)
  t.same(first.taken, [])
})

t.test(
  'the port closes when no connection waits, and workers are notified after their last connection',
  async (t) => {
    const { port, connectAll, address } = await openPort(t)
    const takers = [createTaker(), createTaker()]
    for (const taker of takers) port.add(taker)
    const connecting = connectAll(100)
    await until(() => takers.some(({ taken }) => taken.length > 0))
    const closed = port.close(new Promise(() => undefined))
    // A worker that drains meanwhile, as all workers do, still gets connections.
    for (const taker of takers) taker.leave()
    await Promise.all([closed, connecting])
    await until(() => takers.every(({ isReleased }) => isReleased()))
    t.equal(takers.flatMap(({ taken }) => taken).length, 100)
    const [error] = await once(openSocket(address), 'error')
    t.match(error, { code: 'ECONNREFUSED' })
  },
)

t.test('a connection that is held from before the sharing counts for the limit after it', async (t) => {
  const { port, connectAll, refused } = await openPort(t, { maxConnections: 1 })
  // The primary continues with the socket of this server. In the gateway, it is a copy of the former socket.
  const next = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(next, 'listening')
  const confirmed = Promise.withResolvers<unknown>()
  const state = { isSharing: false, ended: 0 }
  const never = new Promise<unknown>(() => undefined)
  const taker: FakeTaker = {
    ...createTaker(() =>
      state.isSharing ? never : Promise.resolve({ open: 0, ended: (state.ended += 1000) }),
    ),
    countConnections: () => Promise.resolve({ open: 0, ended: state.ended }),
    accept: () => {
      state.isSharing = true
      return confirmed.promise
    },
  }
  port.add(taker)
  while (!state.isSharing) {
    await connectAll(1)
    await wait(20)
  }
  const { length: before } = taker.taken
  await connectAll(1)
  await until(() => taker.taken.length > before)
  t.teardown(() => taker.taken.at(-1)?.destroy())
  const { length: refusedBefore } = refused
  confirmed.resolve(Reflect.get(next, '_handle'))
  const address = urlOf(next, false)
  while (refused.length === refusedBefore) {
    const socket = openSocket(address)
    await Promise.race([once(socket, 'close'), wait(2000)])
    t.ok(socket.closed, 'no connection beyond the limit stays open')
    socket.destroy()
    if (!t.passing()) break
  }
  t.same(refused.at(-1), 'too-many-connections')
})
