import t from 'tap'
import { BufferedError, pauseMsOf } from '../../../src/proxy/attempts/conflict.ts'
import { openUpstream, startNode, WRITE } from '../../support/fake-engine.ts'

const LIMIT = 1_000_000
const LOST = '{"type":"OptimisticLockingException","message":"ENGINE-03005","code":1}'
const REPEATED = { ...WRITE, conflict: 'repeat' } as const

/** Starts a node that responds with these bodies, one after the other, and then with 204. */
function startAnswering(t: Tap, bodies: readonly string[], onRequest: () => void = () => undefined) {
  let answered = 0
  return startNode(t, (_request, response) => {
    onRequest()
    const body = bodies[answered]
    answered += 1
    if (body === undefined) response.writeHead(204).end()
    else response.writeHead(500, { 'content-type': 'application/json' }).end(body)
  })
}
type Tap = Parameters<typeof startNode>[0]

t.test(
  'a write that failed with an optimistic locking exception is retried if the request allows it',
  async (t) => {
    const node = await startAnswering(t, [LOST, LOST])
    const { upstream, attempts } = openUpstream(t, [node.url])
    t.match(await upstream.fetch(REPEATED, LIMIT), { status: 204 })
    t.equal(node.seen.length, 3)
    t.match(attempts, [{ status: 500 }, { status: 500 }, { status: 204 }])
    t.same(
      node.seen.map(({ body }) => body),
      node.seen.map(() => node.seen[0]?.body),
      'with the same bytes',
    )
  },
)

t.test('after a third optimistic locking exception its response is returned', async (t) => {
  const node = await startAnswering(t, [LOST, LOST, LOST])
  const { upstream } = openUpstream(t, [node.url])
  const answer = await upstream.fetch(REPEATED, LIMIT)
  t.equal(answer.body.toString(), LOST)
  t.equal(node.seen.length, 3)
})

t.test('pauses before retries are random, and the second is twice as long as the first', async (t) => {
  t.same(
    [0, 0.5, 1].map((random) => pauseMsOf(random, 0)),
    [10, 30, 50],
  )
  t.same(
    [0, 0.5, 1].map((random) => pauseMsOf(random, 1)),
    [20, 60, 100],
  )
  const sentAtMs: number[] = []
  const node = await startAnswering(t, [LOST, LOST], () => sentAtMs.push(performance.now()))
  const { upstream } = openUpstream(t, [node.url], { random: () => 0.99 })
  t.match(await upstream.fetch(REPEATED, LIMIT), { status: 204 })
  const [first = 0, second = 0, third = 0] = sentAtMs
  // Without a pause, the gap is a few milliseconds. A timer may fire up to one millisecond early.
  t.ok(second - first >= 48, `${second - first} ms`)
  t.ok(third - second >= 97, `${third - second} ms`)
})

t.test('a conflicting write is not retried unless its request allows it', async (t) => {
  const node = await startAnswering(t, [LOST])
  const { upstream } = openUpstream(t, [node.url])
  t.match(await upstream.fetch(WRITE, LIMIT), { status: 500 })
  t.equal(node.seen.length, 1)
})

t.test('any other response with status 500 passes unchanged and is not retried', async (t) => {
  const long = JSON.stringify({ message: 'x'.repeat(40_000), code: 1 })
  for (const body of ['{"code":0}', '{"code":"1"}', '[1]', 'null', '', '{"code":1', long]) {
    const node = await startAnswering(t, [body])
    const { upstream } = openUpstream(t, [node.url])
    const answer = await upstream.fetch(REPEATED, LIMIT)
    t.equal(answer.status, 500)
    t.equal(answer.body.toString(), body)
    t.equal(node.seen.length, 1)
  }
})

t.test('a response with status 500 is buffered up to 16 KiB', (t) => {
  const error = new BufferedError({})
  t.equal(error.add(Buffer.alloc(16 * 1024 - 1)), true)
  t.equal(error.add(Buffer.alloc(1)), true)
  t.equal(error.add(Buffer.alloc(1)), false)
  t.end()
})

t.test('a response with status 500 that breaks off is an unknown outcome, not a conflict', async (t) => {
  const node = await startNode(t, (_request, response) => {
    response.writeHead(500, { 'content-length': String(LOST.length + 1) })
    response.write(LOST, () => response.destroy())
  })
  const { upstream } = openUpstream(t, [node.url])
  await t.rejects(upstream.fetch(REPEATED, LIMIT), { code: 'GW_OUTCOME_UNKNOWN' })
  t.equal(node.seen.length, 1)
})
