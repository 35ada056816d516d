import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { openUpstream, READ, refusalOf, startNode } from '../../support/fake-engine.ts'

const LIMIT = 1000
const PLACES = 4
const MOST_SLOW = 2

/** Opens a node with four places, of which slow operations may use two. The node responds when the test lets it. */
async function openLines(t: Test, waitMs = 10_000) {
  const clock = { nowMs: 0 }
  const held: { path: string; response: ServerResponse }[] = []
  const node = await startNode(t, ({ url }, response) => void held.push({ path: url, response }))
  const queue = { max: 10, waitMs }
  const { upstream } = openUpstream(t, [node.url], {
    connections: PLACES,
    now: () => clock.nowMs,
    queue,
    slow: { share: 0.5, queue: { ...queue, targetMs: waitMs } },
  })
  const send = (operation: string, name: string, user = 'mary') =>
    upstream.fetch({ ...READ, path: `/${name}`, operation, user }, LIMIT)
  const untilHeld = async (...names: readonly string[]) => {
    while (names.some((name) => !held.some(({ path }) => path.endsWith(`/${name}`))))
      await new Promise(setImmediate)
  }
  const respond = async (name: string) => {
    await untilHeld(name)
    held.find(({ path }) => path.endsWith(`/${name}`))?.response.end('{}')
  }
  /** Starts two reports, which are slow from then on. */
  const fill = async () => {
    const reports = [send('report', 'r1'), send('report', 'r2')]
    await untilHeld('r1', 'r2')
    clock.nowMs += 2000
    return reports
  }
  /** Has one request of the operation completed, which takes this long. */
  const learn = async (operation: string, ms: number) => {
    const sent = send(operation, `first-${operation}`)
    await untilHeld(`first-${operation}`)
    clock.nowMs += ms
    await respond(`first-${operation}`)
    await sent
  }
  t.teardown(() => held.forEach(({ response }) => response.destroy()))
  return { upstream, clock, send, untilHeld, learn, respond, fill, paths: () => held.map(({ path }) => path) }
}

t.test('a request of a slow operation waits for a slow one, and other requests do not', async (t) => {
  const { upstream, send, untilHeld, respond, fill, paths } = await openLines(t)
  const reports = await fill()
  reports.push(send('report', 'r3'))
  t.same(upstream.slow(), { running: MOST_SLOW, waiting: 1 })
  t.equal(upstream.waiting(), 0, 'this is the other queue')
  const other = send('getTask', 'a')
  await respond('a')
  t.match(await other, { status: 200 })
  t.equal(paths().length, MOST_SLOW + 1)
  await respond('r1')
  await untilHeld('r3')
  t.same(upstream.slow(), { running: MOST_SLOW, waiting: 0 })
  await Promise.all([respond('r2'), respond('r3')])
  await Promise.all(reports)
})

t.test('queues of slow and of other requests take turns', async (t) => {
  const { upstream, send, untilHeld, learn, respond, paths } = await openLines(t)
  await learn('getTask', 0)
  await learn('report', 2000)
  const tasks = ['a1', 'a2', 'a3', 'a4'].map((name) => send('getTask', name))
  await untilHeld('a1', 'a2', 'a3', 'a4')
  const waiting = [send('getTask', 'a5'), send('getTask', 'a6'), send('report', 'r1'), send('report', 'r2')]
  t.equal(upstream.waiting(), 2)
  t.equal(upstream.slow().waiting, 2)
  await Promise.all([respond('a1'), respond('a2')])
  await untilHeld('a5', 'r1')
  t.notOk(paths().some((path) => path.endsWith('/a6') || path.endsWith('/r2')))
  await Promise.all(['a3', 'a4', 'a5', 'a6', 'r1', 'r2'].map(respond))
  await Promise.all([...tasks, ...waiting])
})

t.test('a request that waits for the places of slow operations is refused with this reason', async (t) => {
  const { send, fill, respond } = await openLines(t, 20)
  const reports = await fill()
  const refusal = await refusalOf(send('report', 'r3'))
  t.match(refusal, {
    code: 'GW_OVERLOADED',
    retryAfterSeconds: 1,
    message: /limit of concurrent slow operations/,
  })
  await Promise.all([respond('r1'), respond('r2')])
  await Promise.all(reports)
})

t.test('the next place of slow operations goes to the user who has none', async (t) => {
  const { send, fill, respond, untilHeld, paths } = await openLines(t)
  const reports = await fill()
  reports.push(send('report', 'r3'), send('report', 'r4'), send('report', 'j1', 'john'))
  await respond('r1')
  await untilHeld('r3')
  await respond('r2')
  await untilHeld('j1')
  t.notOk(paths().some((path) => path.endsWith('/r4')))
  await Promise.all(['r3', 'j1', 'r4'].map(respond))
  await Promise.all(reports)
})

t.test('a waiting request whose operation has become slow does not delay the others', async (t) => {
  const { upstream, clock, send, untilHeld, learn, respond, fill, paths } = await openLines(t)
  await learn('getTask', 0)
  await learn('query', 0)
  const reports = await fill()
  const held = [send('query', 'q1'), send('getUser', 'a1')]
  await untilHeld('q1', 'a1')
  const waiting = [send('query', 'q2'), send('getTask', 'a2', 'john')]
  t.equal(upstream.waiting(), 2)
  clock.nowMs += 10_000_000
  await respond('a1')
  await untilHeld('a2')
  t.notOk(paths().some((path) => path.endsWith('/q2')))
  await Promise.all(['q1', 'q2', 'a2', 'r1', 'r2'].map(respond))
  await Promise.all([...reports, ...held, ...waiting])
})
