import t from 'tap'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import type { Answer } from '../../../src/request/answer.ts'
import { createUnlocks, type LockedTask, type UnlockResult } from '../../../src/proxy/long-polls/unlocks.ts'

const DONE: Answer = { status: 204, headers: {}, body: Buffer.alloc(0) }

/** An engine that answers when it is told to. */
function openUnlocks() {
  const sent: {
    readonly upstreamRequest: UpstreamRequest
    readonly answer: (answer: Answer | Error) => void
  }[] = []
  const results: UnlockResult[] = []
  const unlocks = createUnlocks({
    send: (upstreamRequest) =>
      new Promise((resolve, reject) => {
        sent.push({
          upstreamRequest,
          answer: (answer) => (answer instanceof Error ? reject(answer) : resolve(answer)),
        })
      }),
    onUnlock: (result) => results.push(result),
    wallMs: () => 1000,
  })
  return { unlocks, sent, results }
}

function tasks(count: number): readonly LockedTask[] {
  return Array.from({ length: count }, (_, index) => ({ id: `t${index}`, lockedUntilMs: Number.NaN }))
}

t.test('only a few unlocks run at a time, and all run in the end', async (t) => {
  const { unlocks, sent, results } = openUnlocks()
  unlocks.unlock(tasks(20))
  t.equal(sent.length, 8)
  const idle = unlocks.idle()
  while (results.length < 20) {
    for (const { answer } of sent.splice(0)) answer(DONE)
    await new Promise(setImmediate)
  }
  await idle
  t.same(new Set(results), new Set(['unlocked']))
})

t.test('a failed unlock is counted, and not repeated', async (t) => {
  const { unlocks, sent, results } = openUnlocks()
  unlocks.unlock(tasks(2))
  sent[0]?.answer({ ...DONE, status: 403 })
  sent[1]?.answer(new Error('reset'))
  await unlocks.idle()
  t.same(results, ['failed', 'failed'])
  t.equal(sent.length, 2)
})

t.test('beyond its bound nothing is kept', (t) => {
  const { unlocks, results } = openUnlocks()
  unlocks.unlock(tasks(10_003))
  t.same(results, ['dropped', 'dropped', 'dropped'])
  t.end()
})

t.test('a lock that lasts is given back, one that is over is not', async (t) => {
  const { unlocks, sent, results } = openUnlocks()
  unlocks.unlock([
    { id: 'over', lockedUntilMs: 999 },
    { id: 'a/b', lockedUntilMs: 1001 },
  ])
  await new Promise(setImmediate)
  t.match(
    sent.map(({ upstreamRequest }) => `${upstreamRequest.method} ${upstreamRequest.path}`),
    ['POST /external-task/a%2Fb/unlock'],
  )
  sent[0]?.answer(DONE)
  await unlocks.idle()
  t.same(results, ['dropped', 'unlocked'])
})
