import t from 'tap'
import { inSlices } from '../../src/parsing/in-slices.ts'

t.test('other work runs between the slices of long work', async (t) => {
  const other = { turns: 0 }
  const timer = setInterval(() => (other.turns += 1), 1)
  t.teardown(() => clearInterval(timer))
  function* work(): Generator<undefined, string> {
    const endsAt = performance.now() + 10_000
    while (other.turns < 3 && performance.now() < endsAt) yield
    return 'result'
  }
  t.equal(await inSlices(work()), 'result')
  t.ok(other.turns >= 3)
})

t.test('an error of the work is passed on', async (t) => {
  await t.rejects(inSlices(brokenWork()), { message: 'broken' })
})

function* brokenWork(): Generator<undefined, string> {
  yield
  throw new Error('broken')
}
