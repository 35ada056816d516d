import t from 'tap'
import { openUpstream, READ, startNode } from '../../support/fake-engine.ts'
import { promotedBytes } from '../../support/promoted-bytes.ts'

const AT_ONCE = 20
const ROUNDS = 40
const READS = 4000

t.test('requests that have waited for a node do not stay in memory', async (t) => {
  const node = await startNode(t, (_request, response) => void response.end('{}'))
  const { upstream } = openUpstream(t, [node.url], {
    connections: 1,
    queue: { max: AT_ONCE, waitMs: 60_000 },
  })
  const ask = () => {
    const content = Array.from({ length: 500 }, () => ({}))
    return upstream.fetch({ ...READ, user: 'mary', isStillPermitted: () => content.length > 0 }, 1000)
  }
  const promoted = await promotedBytes(async () => {
    await Promise.all(Array.from({ length: AT_ONCE }, ask))
  }, ROUNDS)
  const perRequest = promoted / (AT_ONCE * ROUNDS)
  t.ok(perRequest < 10_000, `${perRequest} bytes for each request`)
})

t.test('reads that have waited for a response do not stay in memory', async (t) => {
  const node = await startNode(t, (_request, response) => void response.end('{}'))
  const { upstream } = openUpstream(t, [node.url], { connections: AT_ONCE })
  const waiting: Promise<unknown>[] = []
  const promoted = await promotedBytes(async () => {
    const content = Array.from({ length: 500 }, () => ({}))
    waiting.push(upstream.fetch({ ...READ, isStillPermitted: () => content.length > 0 }, 1000))
    if (waiting.length >= AT_ONCE) await waiting.shift()
  }, READS)
  await Promise.all(waiting)
  const perRead = promoted / READS
  t.ok(perRead < 3000, `${perRead} bytes for each read`)
})
