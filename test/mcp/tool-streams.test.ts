import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { type ToolStream, ToolStreams } from '../../src/mcp/tool-streams.ts'
import { createFakeTime } from '../support/fake-time.ts'

const LIMITS = { open: 3, perUser: 2, maxAgeMs: 10_000 }

/** Opens streams of this process with a clock of the test. */
function openStreams() {
  const time = createFakeTime()
  const state = { isReplaced: false }
  const streams = new ToolStreams({ limits: LIMITS, isReplaced: () => state.isReplaced, ...time })
  const add = (
    user: string,
    { isCurrent = () => true, review = async () => {} }: Partial<ToolStream> = {},
  ) => {
    const events: string[] = []
    const stream: ToolStream = {
      user,
      isCurrent,
      review: async () => {
        events.push('review')
        await review()
      },
      end: () => void events.push('end'),
    }
    streams.add(stream)
    return { stream, events }
  }
  const advance = async (ms: number) => {
    time.advance(ms)
    await setImmediate()
  }
  return { streams, state, time, add, advance }
}

t.test('the streams of a user and of the process have limits', (t) => {
  const { streams, add } = openStreams()
  const { stream } = add('mary')
  t.equal(streams.refusalFor('mary'), null)
  add('mary')
  t.equal(streams.refusalFor('mary'), 'user')
  t.equal(streams.refusalFor('ben'), null)
  add('ben')
  t.equal(streams.refusalFor('anna'), 'process')
  streams.delete(stream)
  streams.delete(stream)
  t.equal(streams.size, 2)
  t.equal(streams.refusalFor('mary'), null)
  t.end()
})

t.test('a stream is reviewed within 250 ms of a change, and only then', async (t) => {
  const { add, advance, time } = openStreams()
  let isCurrent = true
  const { events } = add('mary', { isCurrent: () => isCurrent })
  await advance(1000)
  t.same(events, [])
  isCurrent = false
  t.ok((time.nextMs() ?? Infinity) <= 250)
  await advance(250)
  t.same(events, ['review'])
})

t.test('a review that waits does not delay the reviews of other streams', async (t) => {
  const time = createFakeTime()
  const limits = { open: 100, perUser: 100, maxAgeMs: 10_000 }
  const streams = new ToolStreams({ limits, isReplaced: () => false, ...time })
  const { promise: waiting, resolve: release } = Promise.withResolvers<void>()
  const counts = { running: 0, reviewed: 0 }
  const add = (review: () => Promise<void>) =>
    streams.add({ user: 'mary', isCurrent: () => false, review, end: () => t.fail('ended') })
  for (let count = 0; count < 10; count += 1) add(() => waiting)
  for (let count = 0; count < 80; count += 1)
    add(async () => {
      counts.running += 1
      t.ok(counts.running <= 6, `${counts.running} of 16 are left`)
      await setImmediate()
      counts.running -= 1
      counts.reviewed += 1
    })
  time.advance(250)
  while (counts.reviewed < 80) await setImmediate()
  t.equal(time.nextMs(), null, 'the next reviews begin after all of these')
  release()
  while (time.nextMs() === null) await setImmediate()
})

t.test('a stream ends at its age, or if its caller is refused', async (t) => {
  const { streams, add, advance, time } = openStreams()
  const old = add('mary')
  await advance(LIMITS.maxAgeMs)
  await advance(250)
  t.same(old.events, ['end'])
  const refused = add('ben', {
    isCurrent: () => false,
    review: () => Promise.reject(new Error('refused')),
  })
  await advance(250)
  t.same(refused.events, ['review', 'end'])
  t.equal(streams.size, 0)
  t.equal(time.nextMs(), null)
})

t.test('all streams end if another configuration is in force, and no further one opens', async (t) => {
  const { streams, state, add, advance } = openStreams()
  const { events } = add('mary')
  state.isReplaced = true
  await advance(250)
  t.same(events, ['end'])
  t.equal(streams.refusalFor('mary'), 'draining')
})
