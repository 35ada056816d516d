import { test } from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { nineteen } from './nineteen.ts'
import { normalize } from './normalize.ts'
import { seed } from './seed.ts'

void test('each of the nineteen operations gives the same response for two seeds', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  for (const base of [engine.base, `${engine.base}/engine/second`]) {
    const [first, second] = [await seed(base), await seed(base)]
    for (const scenario of nineteen) {
      const one = await exchange(base, scenario.request(first))
      const other = await exchange(base, scenario.request(second))
      t.equal(one.status, scenario.status, `${scenario.operation} succeeds`)
      t.equal(other.status, scenario.status, `${scenario.operation} succeeds once more`)
      const bodies = [one, other].map((answer) => normalize(answer.body, scenario.volatile))
      t.same(bodies[0], bodies[1], `${scenario.operation} gives the same body`)
    }
  }
})

void test('there are nineteen different operations', async (t) => {
  t.equal(new Set(nineteen.map(({ operation }) => operation)).size, 19)
})
