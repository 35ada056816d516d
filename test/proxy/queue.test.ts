import t from 'tap'
import { Queue, type Waiter } from '../../src/proxy/queue.ts'

/** Starts once it may; keeps what became of it. */
function waiter(
  name: string,
  log: string[],
  own: Partial<Waiter> & { mayStart?: () => boolean } = {},
): Waiter {
  const { mayStart = () => true, ...rest } = own
  return {
    waitMs: 10_000,
    isChoosy: false,
    start: () => {
      if (!mayStart()) return false
      log.push(name)
      return true
    },
    expire: () => log.push(`${name} expired`),
    ...rest,
  }
}

t.test('what came first starts first, as long as there are places', (t) => {
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

t.test('one that waits for certain nodes does not hold up the others', (t) => {
  const queue = new Queue({ max: 10, waitMs: 10_000 })
  const log: string[] = []
  let isThere = false
  queue.add(waiter('choosy', log, { isChoosy: true, mayStart: () => isThere }))
  queue.add(waiter('other', log))
  queue.send()
  t.same(log, ['other'])
  isThere = true
  queue.send()
  t.same(log, ['other', 'choosy'])
  t.end()
})

t.test('no more than its size wait, and none longer than it may', async (t) => {
  const queue = new Queue({ max: 2, waitMs: 60 })
  const log: string[] = []
  t.ok(queue.add(waiter('patient', log)))
  t.ok(queue.add(waiter('hasty', log, { waitMs: 5 })))
  t.notOk(queue.add(waiter('late', log)))
  while (queue.size > 0) await new Promise(setImmediate)
  t.same(log, ['hasty expired', 'patient expired'])
})

t.test('what is removed neither starts nor expires', async (t) => {
  const queue = new Queue({ max: 2, waitMs: 10 })
  const log: string[] = []
  const one = waiter('one', log)
  queue.add(one)
  queue.remove(one)
  queue.send()
  queue.add(waiter('later', log))
  while (queue.size > 0) await new Promise(setImmediate)
  t.same(log, ['later expired'])
})

t.test('one that fails to start is no reason to start none any more', (t) => {
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
