import t from 'tap'
import { holdMsOf } from '../../src/handlers/long-poll.ts'

type Context = Parameters<typeof holdMsOf>[0]

t.test('a poll is held for the requested time, and not at all if this time exceeds half an hour', (t) => {
  const cases: readonly (readonly [asked: unknown, holdMs: number])[] = [
    [1, 1],
    [1_800_000, 1_800_000],
    [1_800_001, 0],
    [0, 0],
    [-1, 0],
    [null, 0],
    [undefined, 0],
    ['x', 0],
  ]
  for (const [asyncResponseTimeout, holdMs] of cases)
    for (const handler of ['long poll', 'own profile'] as const) {
      const request = { operation: { handler }, accessRequest: { body: { asyncResponseTimeout } } }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- holdMsOf reads only these members of a context
      const context = request as unknown as Context
      t.equal(holdMsOf(context), handler === 'long poll' ? holdMs : 0, String(asyncResponseTimeout))
    }
  t.end()
})
