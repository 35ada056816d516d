import t from 'tap'
import { Concurrency } from '../../../src/proxy/nodes/concurrency.ts'

const MOST = 64

/**
 * A node that works on `capacity` requests at once, each for `serviceMs`; further ones wait inside it. It is given all
 * that the limit allows, for `seconds`. Returns the limit at the end.
 */
function saturate(concurrency: Concurrency, node: Node, seconds: number): number {
  for (let i = 0; i < seconds * 100; i += 1) {
    clock.nowMs += 10
    const inFlight = Math.min(concurrency.limit, node.offered ?? MOST)
    const latencyMs = node.serviceMs * Math.max(1, inFlight / node.capacity)
    concurrency.answered({ latencyMs, inFlight, nowMs: clock.nowMs })
  }
  return concurrency.limit
}
interface Node {
  readonly capacity: number
  readonly serviceMs: number
  /** Requests that come at once; default: more than the limit. */
  readonly offered?: number
}
const clock = { nowMs: 0 }

t.test('a node that keeps up is not limited', (t) => {
  const concurrency = new Concurrency(MOST)
  t.equal(concurrency.limit, MOST)
  t.equal(saturate(concurrency, { capacity: MOST, serviceMs: 20 }, 60), MOST)
  t.end()
})

t.test('a node that becomes slow under load is given less, but never too little to show its worth', (t) => {
  const concurrency = new Concurrency(MOST)
  saturate(concurrency, { capacity: MOST, serviceMs: 20 }, 10)
  const slowed = saturate(concurrency, { capacity: 8, serviceMs: 20 }, 5)
  t.ok(slowed < MOST / 2 && slowed >= 16, `${slowed}`)
  t.end()
})

t.test('it grows again when the node is well', (t) => {
  const concurrency = new Concurrency(MOST)
  saturate(concurrency, { capacity: MOST, serviceMs: 20 }, 10)
  t.ok(saturate(concurrency, { capacity: 8, serviceMs: 20 }, 5) < MOST)
  t.equal(saturate(concurrency, { capacity: MOST, serviceMs: 20 }, 60), MOST)
  t.end()
})

t.test('slower requests do not lower the limit while few are in flight', (t) => {
  const concurrency = new Concurrency(MOST)
  saturate(concurrency, { capacity: MOST, serviceMs: 5 }, 10)
  t.equal(saturate(concurrency, { capacity: MOST, serviceMs: 500, offered: 10 }, 10), MOST)
  t.end()
})

t.test('one slow request among many quick ones changes nothing', (t) => {
  const concurrency = new Concurrency(MOST)
  for (let i = 0; i < 10_000; i += 1) {
    clock.nowMs += 10
    concurrency.answered({ latencyMs: i % 4 === 0 ? 5000 : 20, inFlight: MOST, nowMs: clock.nowMs })
  }
  t.equal(concurrency.limit, MOST)
  t.end()
})

t.test('an overloaded node gets a tenth less, once per window', (t) => {
  const concurrency = new Concurrency(MOST)
  for (let i = 0; i < 100; i += 1) concurrency.overloaded(clock.nowMs)
  t.equal(concurrency.limit, Math.floor(MOST * 0.9))
  for (let i = 0; i < 100; i += 1) concurrency.overloaded((clock.nowMs += 1000))
  t.equal(concurrency.limit, 16)
  t.end()
})

t.test('a limit of one stays one', (t) => {
  const concurrency = new Concurrency(1)
  concurrency.overloaded(0)
  t.equal(concurrency.limit, 1)
  t.end()
})
