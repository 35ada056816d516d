import t from 'tap'
import { Latency } from '../../../src/proxy/nodes/latency.ts'

t.test('the average latency converges to a constant sample', (t) => {
  const latency = new Latency(0)
  for (let nowMs = 0; nowMs < 100_000; nowMs += 100) latency.observe(30, nowMs)
  t.ok(Math.abs(latency.readMs(100_000) - 30) < 1)
  t.end()
})

t.test('one slow operation among many fast ones changes the average little', (t) => {
  const latency = new Latency(0)
  latency.seed(5, 0)
  for (let nowMs = 0; nowMs < 1000; nowMs += 10) latency.observe(nowMs === 500 ? 5000 : 5, nowMs)
  t.ok(latency.readMs(1000) < 15)
  t.end()
})

t.test('a high latency decays without samples', (t) => {
  const latency = new Latency(0)
  latency.seed(5000, 0)
  t.ok(latency.readMs(1000) > 4000)
  t.ok(latency.readMs(100_000) < 1)
  t.end()
})
