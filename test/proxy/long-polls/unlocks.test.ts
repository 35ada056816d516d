import t from 'tap'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import type { BufferedResponse } from '../../../src/request/buffered-response.ts'
import { createDateFormat } from '../../../src/request/date-format.ts'
import { createUnlocks, type LockedTask, type UnlockResult } from '../../../src/proxy/long-polls/unlocks.ts'

const DONE: BufferedResponse = { status: 204, headers: {}, body: Buffer.alloc(0) }

/** Opens unlocks for an engine that responds when the test says so. */
function openUnlocks() {
  const sent: {
    readonly upstreamRequest: UpstreamRequest
    readonly answer: (answer: BufferedResponse | Error) => void
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
    dateFormat: createDateFormat(),
    wallMs: () => Date.parse(NOW),
  })
  return { unlocks, sent, results }
}

const NOW = '2026-01-31T12:00:00.000Z'
const LATER = '2026-01-31T13:00:00.001+0100'

function tasks(count: number): readonly LockedTask[] {
  return Array.from({ length: count }, (_, index) => lockOf(`t${index}`, LATER))
}

function lockOf(id: string, lockExpirationTime: unknown): LockedTask {
  return { id, workerId: 'w', lockExpirationTime }
}

t.test('at most eight unlocks run at a time, and all of them run', async (t) => {
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

t.test('a failed unlock is counted and not retried', async (t) => {
  const { unlocks, sent, results } = openUnlocks()
  unlocks.unlock(tasks(2))
  sent[0]?.answer({ ...DONE, status: 403 })
  sent[1]?.answer(new Error('reset'))
  await unlocks.idle()
  t.same(results, ['failed', 'failed'])
  t.equal(sent.length, 2)
})

t.test('unlocks beyond the queue limit are dropped', (t) => {
  const { unlocks, results } = openUnlocks()
  unlocks.unlock(tasks(10_003))
  t.same(results, ['dropped', 'dropped', 'dropped'])
  t.end()
})

t.test('a task is unlocked before its lock expires, and not afterwards', async (t) => {
  const { unlocks, sent, results } = openUnlocks()
  unlocks.unlock([lockOf('expired', '2026-01-31T13:00:00.000+0100'), lockOf('a/b', LATER)])
  await new Promise(setImmediate)
  t.match(
    sent.map(({ upstreamRequest }) => `${upstreamRequest.method} ${upstreamRequest.path}`),
    ['POST /external-task/a%2Fb/unlock'],
  )
  sent[0]?.answer(DONE)
  await unlocks.idle()
  t.same(results, ['dropped', 'unlocked'])
})

for (const { title, task, result } of [
  { title: 'the same lock', task: lockOf('a', '31.01.2026 13:00:01'), result: 'unlocked' },
  { title: 'another expiration time', task: lockOf('a', '31.01.2026 13:00:02'), result: 'dropped' },
  {
    title: 'another worker',
    task: { ...lockOf('a', '31.01.2026 13:00:01'), workerId: 'other' },
    result: 'dropped',
  },
  { title: 'no lock', task: lockOf('a', null), result: 'dropped' },
] as const)
  t.test(`a lock with an unreadable expiration time is looked up before the unlock: ${title}`, async (t) => {
    const { unlocks, sent, results } = openUnlocks()
    unlocks.unlock([lockOf('a', '31.01.2026 13:00:01')])
    t.match(sent[0]?.upstreamRequest, { method: 'GET', path: '/external-task/a' })
    sent[0]?.answer({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(task)) })
    await new Promise(setImmediate)
    t.match(
      sent.slice(1).map(({ upstreamRequest }) => `${upstreamRequest.method} ${upstreamRequest.path}`),
      result === 'unlocked' ? ['POST /external-task/a/unlock'] : [],
    )
    sent[1]?.answer(DONE)
    await unlocks.idle()
    t.same(results, [result])
  })

t.test('a task that no longer exists is not unlocked', async (t) => {
  const { unlocks, sent, results } = openUnlocks()
  unlocks.unlock([lockOf('a', '31.01.2026 13:00:01')])
  sent[0]?.answer({ status: 404, headers: {}, body: Buffer.from('{}') })
  await unlocks.idle()
  t.equal(sent.length, 1)
  t.same(results, ['dropped'])
})
