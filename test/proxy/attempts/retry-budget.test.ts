import t from 'tap'
import { createRetryBudget, type RetryBudget } from '../../../src/proxy/attempts/retry-budget.ts'

function spendAll(budget: RetryBudget): number {
  let count = 0
  while (budget.withdraw()) count += 1
  return count
}

t.test('the budget allows an initial burst of retries, then one retry for every five requests', (t) => {
  const budget = createRetryBudget(64, () => 0)
  t.equal(spendAll(budget), 64)
  for (let i = 0; i < 12; i += 1) budget.deposit()
  t.equal(spendAll(budget), 2)
  t.end()
})

t.test('the budget allows ten retries per second, even with few requests', (t) => {
  let nowMs = 0
  const budget = createRetryBudget(64, () => nowMs)
  spendAll(budget)
  nowMs = 500
  t.equal(spendAll(budget), 5)
  t.end()
})

t.test('an unused budget does not grow beyond its bound', (t) => {
  let nowMs = 0
  const budget = createRetryBudget(2, () => nowMs)
  for (let i = 0; i < 10_000; i += 1) budget.deposit()
  nowMs = 3_600_000
  t.equal(spendAll(budget), 10)
  t.end()
})
