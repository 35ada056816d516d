import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { type ToolStream, ToolStreams } from '../../src/mcp/tool-streams.ts'
import { createFakeTime } from '../support/fake-time.ts'

const LIMITS = { open: 3, perUser: 2, maxAgeMs: 10_000 }

/** Opens streams of this process with a clock of the test. */
function openStreams(limits = LIMITS) {
  const time = createFakeTime()
  const state = { isReplaced: () => false }
  const streams = new ToolStreams({ limits, isReplaced: () => state.isReplaced(), ...time })
  const add = (
    user: string,
    { isCurrent = () => true, review = async () => {}, end = () => {} }: Partial<ToolStream> = {},
  ) => {
    const events: string[] = []
    const stream: ToolStream = {
      user,
      isCurrent,
      review: async () => {
        events.push('review')
        await review()
      },
      end: () => {
        events.push('end')
        end()
      },
      onError: (error) => void events.push(String(error)),
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

/** Callbacks of a stream that is never current, and whose reviews wait until the end of the test. */
function waitingReviews() {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  return { callbacks: { isCurrent: () => false, review: () => promise }, release }
}

/** Runs the work of a number of turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await setImmediate()
}

const MANY = { open: 1000, perUser: 100, maxAgeMs: 10_000 }

t.test('two users whose reviews wait do not delay the reviews of other users', async (t) => {
  const { add, advance, time } = openStreams(MANY)
  const { callbacks, release } = waitingReviews()
  for (const user of ['mary', 'ben']) for (let count = 0; count < 20; count += 1) add(user, callbacks)
  let running = 0
  let most = 0
  const others = Array.from({ length: 80 }, (_, at) =>
    add(`user${at}`, {
      isCurrent: () => false,
      review: async () => {
        running += 1
        most = Math.max(most, running)
        await setImmediate()
        running -= 1
      },
    }),
  )
  await advance(250)
  await turns(40)
  t.ok(others.every(({ events }) => events.length === 1))
  t.equal(most, 8, 'each of the two users has 4 of 16 places')
  t.equal(time.nextMs(), 250, 'the next comparison does not wait for the reviews')
  await advance(250)
  await turns(40)
  t.ok(others.every(({ events }) => events.length === 2))
  release()
})

t.test('a stream has one review at a time, and a user no more than four', async (t) => {
  const { add, advance } = openStreams(MANY)
  const { callbacks, release } = waitingReviews()
  const own = Array.from({ length: 6 }, () => add('mary', callbacks))
  for (let count = 0; count < 8; count += 1) await advance(250)
  t.same(
    own.map(({ events }) => events.length),
    [1, 1, 1, 1, 0, 0],
  )
  release()
  await setImmediate()
  t.same(
    own.map(({ events }) => events.length),
    [1, 1, 1, 1, 1, 1],
  )
})

t.test('reviews of many users that wait give their places to others after a second', async (t) => {
  const { add, advance } = openStreams(MANY)
  const { callbacks, release } = waitingReviews()
  for (let count = 0; count < 16; count += 1) add(`user${count}`, callbacks)
  await advance(250)
  const { events } = add('anna', { isCurrent: () => false })
  await advance(750)
  t.same(events, [])
  await advance(250)
  t.same(events, ['review'])
  release()
})

t.test('a stream that is closed while it waits for its review is not reviewed', async (t) => {
  const { add, advance, streams } = openStreams(MANY)
  const { callbacks, release } = waitingReviews()
  for (let count = 0; count < 4; count += 1) add('mary', callbacks)
  const closed = add('mary', callbacks)
  const open = add('mary', callbacks)
  await advance(250)
  streams.delete(closed.stream)
  release()
  await setImmediate()
  t.same(closed.events, [])
  t.same(open.events, ['review'])
})

for (const [name, callbacks] of Object.entries<Partial<ToolStream>>({
  isCurrent: { isCurrent: fail },
  review: { isCurrent: () => false, review: fail },
  end: { isCurrent: () => false, review: () => Promise.reject(new Error('refused')), end: fail },
}))
  t.test(`an exception in ${name} ends only the stream of it, and is reported`, async (t) => {
    const { add, advance, streams } = openStreams()
    const failing = add('mary', callbacks)
    const other = add('ben', { isCurrent: () => false })
    await advance(250)
    await advance(250)
    t.ok(failing.events.includes('end'))
    t.ok(failing.events.includes('Error: failed'))
    t.same(other.events, ['review', 'review'])
    t.equal(streams.size, 1)
  })

t.test('the error of a review is not reported if its client has disconnected', async (t) => {
  const { add, advance, streams } = openStreams()
  const review = Promise.withResolvers<void>()
  const { stream, events } = add('mary', { isCurrent: () => false, review: () => review.promise })
  await advance(250)
  streams.delete(stream)
  review.reject(new Error('refused'))
  await advance(250)
  t.same(events, ['review'])
})

t.test('an exception in end does not stop a drain', (t) => {
  const { add, streams } = openStreams()
  add('mary', { end: fail })
  const { events } = add('ben')
  streams.drain()
  t.same(events, ['end'])
  t.end()
})

t.test('streams end if it is unknown whether another configuration is in force', async (t) => {
  const { add, advance, state, time } = openStreams()
  const { events } = add('mary')
  state.isReplaced = fail
  await advance(250)
  t.same(events, ['Error: failed', 'end'])
  state.isReplaced = () => false
  const later = add('mary', { isCurrent: () => false })
  await advance(250)
  t.same(later.events, ['review'])
  t.equal(time.nextMs(), 250)
})

function fail(): never {
  throw new Error('failed')
}

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
  t.same(refused.events, ['review', 'Error: refused', 'end'])
  t.equal(streams.size, 0)
  await advance(250)
  t.equal(time.nextMs(), null)
})

t.test('all streams end if another configuration is in force, and no further one opens', async (t) => {
  const { streams, state, add, advance } = openStreams()
  const { events } = add('mary')
  state.isReplaced = () => true
  await advance(250)
  t.same(events, ['end'])
  t.equal(streams.refusalFor('mary'), 'draining')
})
