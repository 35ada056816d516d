import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import {
  type NoPlace,
  type OpenWebSocket,
  OpenWebSockets,
  type SocketPlace,
} from '../../../src/proxy/passthrough/open-web-sockets.ts'

const LIMITS = { open: 3, perUser: 2, idleMs: 1, maxAgeMs: 100_000 }

/** Creates the sockets of an application with a clock, and a function that opens one. */
function create() {
  let nowMs = 0
  const sockets = new OpenWebSockets(LIMITS, () => nowMs)
  const ends: string[] = []
  const open = (isPermitted: OpenWebSocket['isPermitted'] = () => Promise.resolve(true)) => {
    const place = placeOf(sockets.take('demo'))
    place.watch({
      close: (end) => {
        ends.push(end)
        place.release()
      },
      isPermitted,
    })
  }
  const checkAt = async (ms: number) => {
    nowMs = ms
    sockets.check()
    await turn()
    return ends
  }
  return { sockets, ends, open, checkAt }
}

function placeOf(taken: SocketPlace | NoPlace): SocketPlace {
  if (typeof taken === 'string') throw new Error(`no place: ${taken}`)
  return taken
}

t.test('a released place can be taken again, by any user', async (t) => {
  const { sockets } = create()
  const first = placeOf(sockets.take('a'))
  placeOf(sockets.take('a'))
  t.equal(sockets.take('a'), 'user')
  placeOf(sockets.take('b'))
  t.equal(sockets.take('b'), 'application')
  first.release()
  placeOf(sockets.take('b'))
})

t.test('a place that is released twice is free once', async (t) => {
  const { sockets } = create()
  const first = placeOf(sockets.take('a'))
  placeOf(sockets.take('a'))
  first.release()
  first.release()
  placeOf(sockets.take('a'))
  t.equal(sockets.take('a'), 'user')
  placeOf(sockets.take('b'))
  t.equal(sockets.take('b'), 'application')
})

t.test('a socket whose place was already released is not watched', async (t) => {
  const { sockets } = create()
  const place = placeOf(sockets.take('a'))
  place.release()
  place.watch({ close: () => {}, isPermitted: () => Promise.resolve(true) })
  t.equal(sockets.size, 0)
})

t.test('a socket is closed at its maximum age', async (t) => {
  const { open, checkAt } = create()
  open()
  await checkAt(50_000)
  t.same(await checkAt(99_999), [])
  t.same(await checkAt(100_000), ['age'])
})

t.test('a socket is closed at the first check after its user is refused', async (t) => {
  const { open, checkAt } = create()
  let isPermitted = true
  open(() => Promise.resolve(isPermitted))
  t.same(await checkAt(5000), [])
  isPermitted = false
  t.same(await checkAt(10_000), ['revoked'])
})

t.test(
  'a socket whose user cannot be checked is closed 60 seconds after the last successful check',
  async (t) => {
    const { open, checkAt } = create()
    let isKnown = true
    open(() => (isKnown ? Promise.resolve(true) : Promise.reject(new Error('no source'))))
    await checkAt(20_000)
    isKnown = false
    t.same(await checkAt(79_999), [])
    t.same(await checkAt(80_000), ['revoked'])
  },
)

t.test(
  'a check that does not end is not started again, and its socket is closed after 60 seconds',
  async (t) => {
    const { open, checkAt } = create()
    let checks = 0
    open(() => {
      checks += 1
      return new Promise(() => {})
    })
    await checkAt(5000)
    t.same(await checkAt(59_999), [])
    t.equal(checks, 1)
    t.same(await checkAt(60_000), ['revoked'])
  },
)

t.test('after a stop all sockets are closed, and none is opened', async (t) => {
  const { sockets, ends, open } = create()
  open()
  open()
  sockets.stop()
  t.same(ends, ['drain', 'drain'])
  t.equal(sockets.take('a'), 'draining')
})
