import t from 'tap'
import { KeepAlive } from '../../../src/proxy/nodes/keep-alive.ts'

t.test('requests use dedicated connections for ten seconds after a stale connection', (t) => {
  const keepAlive = new KeepAlive()
  t.equal(keepAlive.takeDedicated(0), false)
  keepAlive.onStale(1000)
  t.equal(keepAlive.takeDedicated(1000), true)
  t.equal(keepAlive.takeDedicated(10_999), true)
  t.equal(keepAlive.takeDedicated(11_000), false)
  t.end()
})

t.test('the number of dedicated connections is bounded so that ports remain available', (t) => {
  const keepAlive = new KeepAlive()
  keepAlive.onStale(0)
  const take = (count: number, nowMs: number) =>
    Array.from({ length: count }, () => keepAlive.takeDedicated(nowMs)).filter(Boolean).length
  t.equal(take(10_001, 0), 10_000)
  t.equal(take(1, 6), 0)
  t.equal(take(200, 1006), 150, 'a hundred and fifty in a second more')
  t.equal(take(2, 1008), 1)
  keepAlive.onStale(1_000_000)
  t.equal(take(10_001, 1_000_000), 10_000, 'never more than that')
  t.end()
})
