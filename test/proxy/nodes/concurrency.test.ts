import t from 'tap'
import { Concurrency } from '../../../src/proxy/nodes/concurrency.ts'

const MOST = 64

/**
 * Sends a node as many requests as the limit allows, for `seconds`, and returns the limit at the end. The node processes `capacity` requests at once,
 * each for `serviceMs`. Further requests wait inside it.
 */
function saturate(concurrency: Concurrency, node: Node, seconds: number): number {
  for (let i = 0; i < seconds * 100; i += 1) {
    clock.nowMs += 10
    const inFlight = Math.min(concurrency.limit, node.offered ?? MOST)
    const latencyMs = node.serviceMs * Math.max(1, inFlight / node.capacity)
    concurrency.recordResponse({ latencyMs, inFlight, nowMs: clock.nowMs })
  }
  return concurrency.limit
}
interface Node {
  readonly capacity: number
  readonly serviceMs: number
  /** The number of requests that arrive at once. The default is more than the limit. */
  readonly offered?: number
}
const clock = { nowMs: 0 }

t.test('a node that keeps up is not limited', (t) => {
  const concurrency = new Concurrency(MOST)
  t.equal(concurrency.limit, MOST)
  t.equal(saturate(concurrency, { capacity: MOST, serviceMs: 20 }, 60), MOST)
  t.end()
})

t.test('a node that becomes slow under load receives fewer requests, but at least 16', (t) => {
  const concurrency = new Concurrency(MOST)
  saturate(concurrency, { capacity: MOST, serviceMs: 20 }, 10)
  const slowed = saturate(concurrency, { capacity: 8, serviceMs: 20 }, 5)
  t.ok(slowed < MOST / 2 && slowed >= 16, `${slowed}`)
  t.end()
})

t.test('the limit grows again after the node has recovered', (t) => {
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
    concurrency.recordResponse({ latencyMs: i % 4 === 0 ? 5000 : 20, inFlight: MOST, nowMs: clock.nowMs })
  }
  t.equal(concurrency.limit, MOST)
  t.end()
})

t.test('the limit of an overloaded node decreases by a tenth, once per window', (t) => {
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

t.test('the first latencies of a node are its baseline, however long they are', (t) => {
  t.equal(saturate(new Concurrency(MOST), { capacity: MOST, serviceMs: 200 }, 2), MOST)
  t.end()
})

t.test('the baseline follows a node that becomes faster', (t) => {
  const concurrency = new Concurrency(MOST)
  saturate(concurrency, { capacity: MOST, serviceMs: 100 }, 2)
  saturate(concurrency, { capacity: MOST, serviceMs: 20 }, 10)
  t.ok(saturate(concurrency, { capacity: MOST, serviceMs: 80 }, 5) < MOST)
  t.end()
})

t.test('differences between responses within milliseconds are treated as noise', (t) => {
  const concurrency = new Concurrency(MOST)
  saturate(concurrency, { capacity: MOST, serviceMs: 1 }, 10)
  t.equal(saturate(concurrency, { capacity: MOST, serviceMs: 9 }, 5), MOST)
  t.end()
})

t.test('latencies count only if at least half of the limit is in flight', (t) => {
  for (const [offered, isLimited] of [
    [MOST / 2 - 1, false],
    [MOST / 2, true],
  ] as const) {
    const concurrency = new Concurrency(MOST)
    answer(concurrency, 10, 20, offered)
    answer(concurrency, 10, 5000, offered)
    t.equal(concurrency.limit < MOST, isLimited, `${offered}`)
  }
  t.end()
})

t.test('a window needs ten responses to count, and only its first two hundred count', (t) => {
  const few = new Concurrency(MOST)
  answer(few, 10, 20)
  answer(few, 9, 5000)
  t.equal(few.limit, MOST)
  answer(few, 1, 5000)
  t.ok(few.limit < MOST)
  const many = new Concurrency(MOST)
  answer(many, 10, 20)
  // This is within the window that the first ten responses have opened.
  clock.nowMs -= 1000
  answer(many, 200, 20)
  clock.nowMs -= 1000
  answer(many, 300, 5000)
  answer(many, 1, 5000)
  t.equal(many.limit, MOST)
  t.end()
})

/** Records `count` responses at once, in a window of their own. */
function answer(concurrency: Concurrency, count: number, latencyMs: number, inFlight = MOST): void {
  clock.nowMs += 1000
  for (let i = 0; i < count; i += 1) concurrency.recordResponse({ latencyMs, inFlight, nowMs: clock.nowMs })
}
