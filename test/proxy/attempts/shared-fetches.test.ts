import type { ServerResponse } from 'node:http'
import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import { SharedFetches, type ShareResult } from '../../../src/proxy/attempts/shared-fetches.ts'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import type { BufferedResponse } from '../../../src/request/buffered-response.ts'
import { openUpstream, READ, startNode, WRITE } from '../../support/fake-engine.ts'

const COUNT: UpstreamRequest = { ...READ, path: '/task/count?assignee=mary', isShareable: true }

/** Opens shared fetches of an engine that responds to the n-th request with the count n, when the test lets it. */
function openShared() {
  const results: ShareResult[] = []
  const shared = new SharedFetches({ onResult: (result) => results.push(result) })
  const open: ((response?: Partial<BufferedResponse> | Error) => void)[] = []
  const send = () => {
    const body = Buffer.from(`{"count":${open.length + 1}}`)
    return new Promise<BufferedResponse>((resolve, reject) =>
      open.push((response = {}) => {
        if (response instanceof Error) reject(response)
        else resolve({ status: 200, headers: {}, body, ...response })
      }),
    )
  }
  return {
    results,
    shared,
    send,
    sent: () => open.length,
    /** Has the engine respond to its n-th request. */
    respond: (n: number, response?: Partial<BufferedResponse> | Error) => open[n - 1]?.(response),
    count: async (changes: Partial<UpstreamRequest> = {}) => {
      const { body } = await shared.fetch({ ...COUNT, ...changes }, send)
      return String(body)
    },
  }
}

t.test('identical counts at the same time are sent once', async (t) => {
  const { count, respond, sent, results } = openShared()
  const all = [count(), count(), count({ headers: { 'x-request-id': 'other', 'user-agent': 'other' } })]
  respond(1)
  t.same(await Promise.all(all), Array(3).fill('{"count":1}'))
  t.equal(sent(), 1)
  t.same(results, ['sent', 'joined', 'joined'])
  const later = count()
  respond(2)
  t.equal(await later, '{"count":2}', 'nothing is kept')
})

t.test('requests that differ, and requests of other kinds, are not shared', async (t) => {
  const { count, sent } = openShared()
  const others: readonly Partial<UpstreamRequest>[] = [
    {},
    { path: '/task/count?assignee=john' },
    { method: 'POST', body: Buffer.from('{}') },
    { method: 'POST', body: Buffer.from('{"a":1}') },
    { headers: { authorization: 'Basic bWFyeTpt' } },
    { headers: { accept: 'text/csv' } },
  ]
  const alone: readonly Partial<UpstreamRequest>[] = [
    { isShareable: undefined },
    { retry: 'unsent' },
    { path: '/task?a=/count' },
    { method: 'HEAD' },
    { method: 'POST', body: Buffer.alloc(16 * 1024 + 1) },
  ]
  for (const changes of [...others, ...alone, ...alone]) void count(changes)
  await new Promise(setImmediate)
  t.equal(sent(), others.length + 2 * alone.length)
})

t.test('a count after a write does not share a response from before', async (t) => {
  const { shared, count, respond } = openShared()
  const before = count()
  shared.onWrite()
  const after = count()
  respond(1)
  respond(2)
  t.equal(await before, '{"count":1}')
  t.equal(await after, '{"count":2}')
})

t.test('a caller whose permission has changed does not get a shared response', async (t) => {
  const { count, respond } = openShared()
  const first = count()
  const joined = count({ isStillPermitted: () => false })
  respond(1)
  await first
  await t.rejects(joined, { code: 'GW_DECISION_OUTDATED' })
})

t.test('if the permission of the first caller has changed, the others send their own requests', async (t) => {
  const { count, respond } = openShared()
  const first = count()
  const joined = count()
  respond(1, new GatewayError('GW_DECISION_OUTDATED'))
  await t.rejects(first, { code: 'GW_DECISION_OUTDATED' })
  await new Promise(setImmediate)
  respond(2)
  t.equal(await joined, '{"count":2}')
})

t.test('another failure is shared, so that an overloaded engine gets no further request', async (t) => {
  const { count, respond, sent } = openShared()
  const both = [count(), count()]
  respond(1, new GatewayError('GW_OVERLOADED'))
  for (const one of both) await t.rejects(one, { code: 'GW_OVERLOADED' })
  t.equal(sent(), 1)
})

t.test('an error, a long response and a response with a cookie are not shared', async (t) => {
  for (const response of [
    { status: 500 },
    { body: Buffer.alloc(1025) },
    { setsCookie: true },
  ] satisfies Partial<BufferedResponse>[]) {
    const { count, respond } = openShared()
    const first = count()
    const joined = count()
    respond(1, response)
    await first
    await new Promise(setImmediate)
    respond(2)
    t.equal(await joined, '{"count":2}')
  }
})

t.test('each caller gets memory of its own', async (t) => {
  const { shared, send, respond } = openShared()
  const both = [shared.fetch(COUNT, send), shared.fetch(COUNT, send)]
  respond(1)
  const [one, other] = await Promise.all(both)
  one?.body.fill(0)
  t.equal(String(other?.body), '{"count":1}')
})

t.test('a write through the upstream ends the sharing, and a read does not', async (t) => {
  const counts: ServerResponse[] = []
  const node = await startNode(t, ({ url }, response) => {
    if (url.includes('/count')) counts.push(response)
    else response.end('{}')
  })
  const { upstream } = openUpstream(t, [node.url], { share: {} })
  const all = [upstream.fetch(COUNT, 1000)]
  while (counts.length < 1) await new Promise(setImmediate)
  await upstream.fetch(READ, 1000)
  all.push(upstream.fetch(COUNT, 1000))
  await upstream.fetch(WRITE, 1000)
  t.equal(counts.length, 1)
  all.push(upstream.fetch(COUNT, 1000))
  while (counts.length < 2) await new Promise(setImmediate)
  counts.forEach((response, at) => response.end(`${at}`))
  t.same(
    (await Promise.all(all)).map(({ body }) => String(body)),
    ['0', '0', '1'],
  )
})
