import t from 'tap'
import type { Node } from '../../../src/proxy/nodes/node.ts'
import { SlowOperations } from '../../../src/proxy/nodes/slow-operations.ts'
import { openNodes } from '../../support/open-nodes.ts'

const PLACES = 8
const MOST_SLOW = 4

/** Opens a node with eight places, of which slow operations may use four. */
function openPlaces() {
  const { node, clock } = openNodes([{}, {}])
  const operations = new SlowOperations(0.5, () => clock.nowMs)
  const nodes = [node(0), node(1)]
  for (const one of nodes) one.capacity = PLACES
  const begin = (operation: string, at: Node = node(0)) => {
    at.inFlight += 1
    const learn = operations.onStart(operation, at, clock.nowMs)
    return (isComplete = true) => {
      at.inFlight -= 1
      learn?.({ isComplete, nowMs: clock.nowMs })
    }
  }
  /** Lets the operation have completed requests that took this long. */
  const learn = (operation: string, ms: number, count = 10) => {
    for (let i = 0; i < count; i += 1) {
      const end = begin(operation)
      clock.nowMs += ms
      end()
    }
  }
  return { operations, clock, one: node(0), other: node(1), begin, learn }
}

function times(count: number, work: () => unknown): void {
  for (let i = 0; i < count; i += 1) work()
}

t.test('slow operations use at most their share of the places together', (t) => {
  const { operations, one, other, begin, learn } = openPlaces()
  learn('report', 5000)
  learn('statistics', 1000)
  learn('short', 5)
  times(MOST_SLOW - 1, () => begin('report'))
  begin('statistics')
  t.notOk(operations.hasPlace(one, 'report'))
  t.notOk(operations.hasPlace(one, 'statistics'))
  t.ok(operations.hasPlace(one, 'short'))
  t.ok(operations.hasPlace(one, 'never used'))
  t.ok(operations.hasPlace(one, undefined), 'a request of the gateway itself')
  t.ok(operations.hasPlace(other, 'report'), 'each node has its own places')
  t.equal(operations.running(), MOST_SLOW)
  t.end()
})

t.test('a slow operation may use its share although other requests use the rest', (t) => {
  const { operations, one, begin, learn } = openPlaces()
  learn('report', 5000)
  learn('short', 5)
  times(PLACES - MOST_SLOW, () => begin('short'))
  times(MOST_SLOW - 1, () => begin('report'))
  t.ok(operations.hasPlace(one, 'report'))
  t.end()
})

t.test('an operation is slow as soon as its first request has taken a second', (t) => {
  const { operations, clock, one, begin } = openPlaces()
  times(MOST_SLOW, () => begin('report'))
  clock.nowMs += 999
  t.notOk(operations.isSlow('report'))
  clock.nowMs += 1
  t.ok(operations.isSlow('report'))
  t.notOk(operations.hasPlace(one, 'report'))
  t.end()
})

t.test('a burst of an operation without a completed request leaves places for others', (t) => {
  const { operations, one, begin } = openPlaces()
  times(MOST_SLOW, () => begin('new'))
  t.notOk(operations.hasPlace(one, 'new'))
  t.ok(operations.isUntried('new'))
  t.notOk(operations.isSlow('new'))
  t.notOk(operations.isUntried('also new'))
  t.ok(operations.hasPlace(one, 'also new'), 'it has not used them')
  const end = begin('new')
  end()
  t.ok(operations.hasPlace(one, 'new'), 'its first request was fast')
  t.notOk(operations.isUntried('new'))
  t.end()
})

t.test('one very slow request does not make a fast operation slow, and many do', (t) => {
  const { operations, clock, learn, begin } = openPlaces()
  learn('query', 10)
  const end = begin('query')
  clock.nowMs += 600_000
  t.notOk(operations.isSlow('query'))
  end()
  t.notOk(operations.isSlow('query'))
  learn('query', 10_000, 6)
  t.ok(operations.isSlow('query'))
  t.end()
})

t.test('a fast operation counts as slow while many of its requests take long', (t) => {
  const { operations, clock, learn, begin } = openPlaces()
  learn('query', 5)
  times(7, () => begin('query'))
  clock.nowMs += 20_000
  t.notOk(operations.isSlow('query'))
  const end = begin('query')
  clock.nowMs += 20_000
  t.ok(operations.isSlow('query'))
  end()
  t.end()
})

t.test('an operation that has become fast is no longer slow', (t) => {
  const { operations, learn } = openPlaces()
  learn('report', 20_000)
  t.ok(operations.isSlow('report'))
  learn('report', 20, 10)
  t.notOk(operations.isSlow('report'))
  t.end()
})

t.test('a fast failure does not make a slow operation look fast, and a long one counts', (t) => {
  const { operations, clock, begin, learn } = openPlaces()
  begin('broken')(false)
  begin('broken')
  t.ok(operations.isUntried('broken'), 'its only request has failed')
  learn('report', 5000)
  times(20, () => begin('report')(false))
  t.ok(operations.isSlow('report'))
  learn('query', 10)
  times(10, () => {
    const end = begin('query')
    clock.nowMs += 30_000
    end(false)
  })
  t.ok(operations.isSlow('query'))
  t.end()
})

t.test('slow operations have at least one place', (t) => {
  const { operations, one, learn, begin } = openPlaces()
  one.capacity = 1
  learn('report', 5000)
  t.ok(operations.hasPlace(one, 'report'))
  begin('report')
  t.notOk(operations.hasPlace(one, 'report'))
  t.end()
})
