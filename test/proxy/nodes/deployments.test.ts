import t from 'tap'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import { type FakeNode, openUpstream, type Seen, startNode, WRITE } from '../../support/fake-engine.ts'
import { NAMES } from '../../support/watch-nodes.ts'

const LIMIT = 1_000_000
const TIMES = { intervalMs: 20, timeoutMs: 5000, deployments: true }
const OF_A: UpstreamRequest = { ...WRITE, deployment: 'a' }
const OF_NOBODY: UpstreamRequest = { ...WRITE, deployment: 'x' }

/** A node that says which deployments it has; null: it does not say. */
function startWith(t: Parameters<typeof startNode>[0], registered: () => readonly string[] | null) {
  return startNode(t, ({ url }, response) => {
    if (url === '/engine') return response.end(NAMES)
    if (url !== '/deployment/registered') return response.writeHead(204).end()
    const ids = registered()
    return ids === null ? response.writeHead(404).end() : response.end(JSON.stringify(ids))
  })
}

function writesOf({ seen }: FakeNode): readonly Seen[] {
  return seen.filter(({ method }) => method === WRITE.method)
}

const isTold = ({ seen }: FakeNode) => seen.filter(({ url }) => url === '/deployment/registered').length > 1

async function toldBy(...nodes: readonly FakeNode[]): Promise<void> {
  while (!nodes.every(isTold)) await new Promise(setImmediate)
}

t.test('what is of a deployment goes to the nodes that have it, all else to any', async (t) => {
  const has = await startWith(t, () => ['a', 'b'])
  const other = await startWith(t, () => ['b'])
  const { upstream } = openUpstream(t, [has.url, other.url])
  upstream.startProbes(TIMES)
  await toldBy(has, other)
  await Promise.all(Array.from({ length: 20 }, () => upstream.fetch(OF_A, LIMIT)))
  t.equal(writesOf(has).length, 20)
  t.equal(writesOf(other).length, 0)
  await Promise.all(Array.from({ length: 20 }, () => upstream.fetch(OF_NOBODY, LIMIT)))
  t.ok(writesOf(other).length > 0, 'nobody has it: any will do')
})

t.test('a full node that has it is waited for, while others have places', async (t) => {
  const held: (() => void)[] = []
  const has = await startNode(t, ({ url }, response) => {
    if (url === '/engine') response.end(NAMES)
    else if (url === '/deployment/registered') response.end('["a"]')
    else held.push(() => response.end())
  })
  const other = await startWith(t, () => [])
  const { upstream } = openUpstream(t, [has.url, other.url], { connections: 1 })
  upstream.startProbes(TIMES)
  await toldBy(has, other)
  const first = upstream.fetch(OF_A, LIMIT)
  const second = upstream.fetch(OF_A, LIMIT)
  t.equal(upstream.waiting(), 1)
  t.match(await upstream.fetch(WRITE, LIMIT), { status: 204 }, 'one that is not choosy goes past it')
  while (held.length < 1) await new Promise(setImmediate)
  held[0]?.()
  await first
  while (held.length < 2) await new Promise(setImmediate)
  held[1]?.()
  await second
  t.equal(writesOf(has).length, 2)
})

t.test('a deployment is known as soon as it is asked for', async (t) => {
  let ids: readonly string[] = []
  const first = await startWith(t, () => [])
  const second = await startWith(t, () => ids)
  const { upstream } = openUpstream(t, [first.url, second.url])
  upstream.startProbes({ ...TIMES, intervalMs: 3_600_000 })
  while (first.seen.length < 2 || second.seen.length < 2) await new Promise(setImmediate)
  ids = ['a']
  await upstream.deployed()
  await Promise.all(Array.from({ length: 10 }, () => upstream.fetch(OF_A, LIMIT)))
  t.equal(writesOf(second).length, 10)
})

t.test(
  'a node that does not say keeps what it said before; one that never did is as any other',
  async (t) => {
    let ids: readonly string[] | null = ['a']
    const has = await startWith(t, () => ids)
    const mute = await startWith(t, () => null)
    const { upstream } = openUpstream(t, [has.url, mute.url])
    upstream.startProbes(TIMES)
    await toldBy(has, mute)
    ids = null
    await upstream.deployed()
    await Promise.all(Array.from({ length: 10 }, () => upstream.fetch(OF_A, LIMIT)))
    t.equal(writesOf(has).length, 10)
  },
)

t.test('without it the nodes are not asked', async (t) => {
  const node = await startWith(t, () => ['a'])
  const { upstream } = openUpstream(t, [node.url])
  upstream.startProbes({ intervalMs: 10, timeoutMs: 5000 })
  while (node.seen.length < 3) await new Promise(setImmediate)
  await upstream.deployed()
  t.ok(node.seen.every(({ url }) => url === '/engine'))
})

t.test('a node that is not well is not asked for its deployments', async (t) => {
  const node = await startNode(t, ({ url }, response) => response.end(url === '/engine' ? '[]' : '["a"]'))
  const { upstream } = openUpstream(t, [node.url])
  upstream.startProbes(TIMES)
  while (node.seen.length < 3) await new Promise(setImmediate)
  t.same([...new Set(node.seen.map(({ url }) => url))], ['/engine'])
})
