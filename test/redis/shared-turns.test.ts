import t from 'tap'
import { createOwnTurns } from '../../src/redis/shared-turns.ts'

t.test('the first turn is taken at once, and the next one after the least time', async (t) => {
  let nowMs = 1000
  const turns = createOwnTurns(() => nowMs)
  t.same(await turns.take('a', 50), { isTaken: true })
  nowMs += 20
  t.same(await turns.take('a', 50), { isTaken: false, leftMs: 30, previous: 1 })
  t.same(await turns.take('b', 50), { isTaken: true })
  nowMs += 30
  t.same(await turns.take('a', 50), { isTaken: true })
  t.same(await turns.take('a', 50), { isTaken: false, leftMs: 50, previous: 2 })
})
