import t from 'tap'
import {
  Queue,
  type QueueOptions,
  type WaitResult,
  type QueuedRequest,
} from '../../../src/proxy/attempts/queue.ts'
import { promotedBytes } from '../../support/promoted-bytes.ts'
import { createFakeTime } from '../../support/fake-time.ts'

/** Creates a waiter that starts if `mayStart` allows it and writes its outcome to the log. */
function waiter(
  name: string,
  log: string[],
  own: Partial<QueuedRequest> & { mayStart?: () => boolean } = {},
): QueuedRequest {
  const { mayStart = () => true, ...rest } = own
  return {
    waitMs: 10_000,
    isSelective: () => false,
    start: () => {
      if (!mayStart()) return false
      log.push(name)
      return true
    },
    expire: () => log.push(`${name} expired`),
    ...rest,
  }
}

t.test('requests leave the queue in the order of their arrival, as long as connections are free', (t) => {
  const queue = new Queue({ max: 10, waitMs: 10_000 })
  const log: string[] = []
  let places = 2
  const mayStart = () => (places -= 1) >= 0
  for (const name of ['a', 'b', 'c', 'd']) queue.add(waiter(name, log, { mayStart }))
  queue.send()
  t.same(log, ['a', 'b'])
  places = 2
  queue.send()
  t.same(log, ['a', 'b', 'c', 'd'])
  t.equal(queue.size, 0)
  t.end()
})

t.test('a request that waits for certain nodes does not block the others', (t) => {
  const queue = new Queue({ max: 10, waitMs: 10_000 })
  const log: string[] = []
  let isThere = false
  queue.add(waiter('choosy', log, { isSelective: () => true, mayStart: () => isThere }))
  queue.add(waiter('other', log))
  queue.send()
  t.same(log, ['other'])
  isThere = true
  queue.send()
  t.same(log, ['other', 'choosy'])
  t.end()
})

t.test('the queue holds at most `max` requests, and each waits at most its own limit', async (t) => {
  const queue = new Queue({ max: 2, waitMs: 60 })
  const log: string[] = []
  t.ok(queue.add(waiter('patient', log)))
  t.ok(queue.add(waiter('hasty', log, { waitMs: 5 })))
  t.notOk(queue.add(waiter('late', log)))
  while (queue.size > 0) await new Promise(setImmediate)
  t.same(log, ['hasty expired', 'patient expired'])
})

t.test('users take turns, so that a user with many requests does not delay the others', (t) => {
  const queue = new Queue({ max: 10, waitMs: 10_000 })
  const log: string[] = []
  let places = 0
  const mayStart = () => (places -= 1) >= 0
  for (const name of ['a1', 'a2', 'a3']) queue.add(waiter(name, log, { user: 'a', mayStart }))
  queue.add(waiter('b1', log, { user: 'b', mayStart }))
  places = 2
  queue.send()
  t.same(log, ['a1', 'b1'])
  t.equal(queue.size, 2)
  t.end()
})

t.test('a full queue refuses the newest request of the user with the most requests', (t) => {
  const ends: WaitResult[] = []
  const queue = new Queue({ max: 3, waitMs: 10_000, onEnd: (result) => ends.push(result) })
  const log: string[] = []
  for (const name of ['a1', 'a2', 'a3']) t.ok(queue.add(waiter(name, log, { user: 'a' })))
  t.ok(queue.add(waiter('b1', log, { user: 'b' })))
  t.same(log, ['a3 expired'])
  t.notOk(queue.add(waiter('b2', log, { user: 'b' })), 'a has no more than b would have')
  t.same(ends, ['refused', 'refused'])
  t.equal(queue.size, 3)
  t.end()
})

t.test('a removed request neither starts nor expires', async (t) => {
  const queue = new Queue({ max: 2, waitMs: 10 })
  const log: string[] = []
  const one = queue.add(waiter('one', log))
  if (one === null) throw new Error('the queue has a free place')
  queue.remove(one)
  queue.send()
  queue.add(waiter('later', log))
  while (queue.size > 0) await new Promise(setImmediate)
  t.same(log, ['later expired'])
})

t.test('an error at the start of one request does not stop the queue for later ones', (t) => {
  const queue = new Queue({ max: 2, waitMs: 10_000 })
  const log: string[] = []
  let isBroken = true
  const mayStart = () => {
    if (isBroken) throw new Error('no start')
    return true
  }
  queue.add(waiter('one', log, { mayStart }))
  queue.add(waiter('other', log))
  t.throws(() => queue.send(), { message: 'no start' })
  isBroken = false
  queue.send()
  t.same(log, ['one', 'other'])
  t.end()
})

const WAIT_MS = 2000
const TARGET_MS = 100

/** Opens a queue for an engine that takes one request per given number of milliseconds, with a clock that the test moves. */
function openOverloaded(options: Partial<QueueOptions> = {}) {
  const time = createFakeTime()
  const ends: { readonly result: WaitResult; readonly waitedMs: number; readonly atMs: number }[] = []
  const startMs = time.now()
  const atMs = () => time.now() - startMs
  const onEnd = (result: WaitResult, waitedMs: number) => ends.push({ result, waitedMs, atMs: atMs() })
  const queue = new Queue({ max: 1000, waitMs: WAIT_MS, targetMs: TARGET_MS, ...time, onEnd, ...options })
  let places = 0
  const come = (own: Partial<QueuedRequest> = {}) =>
    queue.add(waiter('', [], { waitMs: 60_000, mayStart: () => (places -= 1) >= 0, ...own }))
  /** Adds one request every `comesMs` and takes one every `takenMs`. */
  const run = (forMs: number, comesMs: number, takenMs: number) => {
    for (const endMs = atMs() + forMs; atMs() < endMs; time.advance(1)) {
      if (atMs() % comesMs === 0) come()
      places = atMs() % takenMs === 0 ? 1 : 0
      if (places > 0) queue.send()
    }
  }
  const since = (fromMs: number, result: WaitResult) =>
    ends.filter((end) => end.atMs >= fromMs && end.result === result)
  return { queue, time, come, run, since }
}

function longest(of: readonly { readonly waitedMs: number }[]): number {
  return Math.max(...of.map(({ waitedMs }) => waitedMs))
}

t.test('in steady overload no request waits longer than the target, and capacity is fully used', (t) => {
  const { queue, run, since } = openOverloaded()
  run(10_000, 2, 6)
  t.ok(queue.isStanding)
  const [sent, refused] = [since(4000, 'sent'), since(4000, 'refused')]
  t.equal(sent.length, 1000, 'one every 6 ms')
  t.ok(longest(sent) <= TARGET_MS, `the served wait ${longest(sent)} ms`)
  t.ok(longest(refused) <= TARGET_MS, `the refused wait ${longest(refused)} ms`)
  t.ok(refused.length > 1990)
  t.end()
})

t.test('every request of a burst is served, even if it waits up to the limit', (t) => {
  const { queue, come, run, since } = openOverloaded()
  for (let count = 0; count < 300; count += 1) t.ok(come())
  run(1900, 10_000, 6)
  t.equal(queue.size, 0)
  t.equal(since(0, 'sent').length, 300 + 1)
  t.ok(longest(since(0, 'sent')) > 1700)
  t.same(since(0, 'refused'), [])
  t.end()
})

t.test('a queue that is late for less than an interval is not standing', (t) => {
  const { queue, run, since } = openOverloaded()
  for (let count = 0; count < 10; count += 1) {
    run(900, 5, 6)
    run(900, 20, 6)
    t.equal(queue.size, 0)
  }
  t.same(since(0, 'refused'), [])
  t.notOk(queue.isStanding)
  t.end()
})

t.test('a queue that is never empty is not standing if some requests wait less than the target', (t) => {
  const { queue, run, since } = openOverloaded()
  run(600, 5, 6)
  for (let count = 0; count < 10; count += 1) {
    run(200, 10, 6)
    t.ok(queue.size > 0)
    run(400, 5, 6)
  }
  t.ok(longest(since(0, 'sent')) > TARGET_MS)
  t.same(since(0, 'refused'), [])
  t.notOk(queue.isStanding)
  t.end()
})

t.test('a queue is standing until it is empty, and again if a request is late soon afterwards', (t) => {
  const { queue, time, run, come, since } = openOverloaded()
  run(5000, 2, 6)
  t.ok(queue.isStanding)
  run(200, 10_000, 1)
  t.equal(queue.size, 0)
  t.notOk(queue.isStanding)
  const atMs = 5200
  come()
  time.advance(TARGET_MS)
  come()
  t.ok(queue.isStanding, 'less than an interval later')
  time.advance(TARGET_MS)
  t.equal(since(atMs, 'refused').length, 1, 'the one that came while it stood')
  t.equal(queue.size, 1)
  time.advance(WAIT_MS)
  t.match(since(atMs, 'refused'), [{ waitedMs: TARGET_MS }, { waitedMs: WAIT_MS }])
  time.advance(1000)
  come()
  time.advance(TARGET_MS)
  come()
  t.notOk(queue.isStanding, 'more than an interval later')
  t.end()
})

t.test('if nothing leaves the queue, later requests are refused soon', (t) => {
  const { run, since } = openOverloaded()
  run(4000, 10, 1_000_000)
  t.ok(longest(since(3500, 'refused')) <= TARGET_MS)
  t.end()
})

t.test('a free connection always finds a waiting request, even if connections are few and slow', (t) => {
  const { run, since } = openOverloaded()
  run(60_000, 400, 500)
  t.ok(since(0, 'sent').length >= 0.95 * 120, `${since(0, 'sent').length} of 120`)
  t.end()
})

t.test('a target equal to the wait has no effect', (t) => {
  const { run, since } = openOverloaded({ targetMs: 60_000 })
  run(10_000, 2, 6)
  t.same(
    [...new Set(since(4000, 'refused').map(({ waitedMs }) => waitedMs >= WAIT_MS || waitedMs === 0))],
    [true],
  )
  t.end()
})

t.test('a request whose client disconnects counts as left, and one at a full queue as refused', (t) => {
  const { queue, time, since } = openOverloaded({ max: 1 })
  const one = queue.add(waiter('one', []))
  if (one === null) throw new Error('the queue has a free place')
  t.notOk(queue.add(waiter('other', [])))
  time.advance(30)
  queue.remove(one)
  queue.remove(one)
  t.match(since(0, 'refused'), [{ waitedMs: 0 }])
  t.match(since(0, 'left'), [{ waitedMs: 30 }])
  t.equal(since(0, 'left').length, 1)
  t.end()
})

t.test('a request that has left the queue does not stay in memory', async (t) => {
  const queue = new Queue({ max: 100, waitMs: 10_000 })
  let places = 0
  const promoted = await promotedBytes(() => {
    const content = Array.from({ length: 200 }, () => ({}))
    queue.add(waiter('one', [], { user: 'a', mayStart: () => content.length > 0 && (places -= 1) >= 0 }))
    if (queue.size <= 20) return
    places = 1
    queue.send()
  }, 2000)
  t.ok(promoted < 4_000_000, `${promoted} bytes`)
})
