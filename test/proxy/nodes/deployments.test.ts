import t from 'tap'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import { type FakeNode, openUpstream, type Seen, startNode, WRITE } from '../../support/fake-engine.ts'
import { NAMES } from '../../support/watch-nodes.ts'

const LIMIT = 1_000_000
const TIMES = { intervalMs: 20, timeoutMs: 5000, deployments: true }
const OF_A: UpstreamRequest = { ...WRITE, deployment: 'a' }
const OF_NOBODY: UpstreamRequest = { ...WRITE, deployment: 'x' }

/** Starts a node that lists the deployments it has. If `registered` returns null, it lists none and responds with 404. */
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

t.test(
  'a request for a deployment goes to nodes that have it, and any other request to any node',
  async (t) => {
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
  },
)

t.test('a request for a deployment waits for a full node that has it, even if others are free', async (t) => {
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

t.test('a new deployment is known as soon as the nodes have been asked again', async (t) => {
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
  'a node that stops listing deployments keeps its last list, and one that never listed them has none',
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

t.test('the nodes are not asked for their deployments if the option is off', async (t) => {
  const node = await startWith(t, () => ['a'])
  const { upstream } = openUpstream(t, [node.url])
  upstream.startProbes({ intervalMs: 10, timeoutMs: 5000 })
  while (node.seen.length < 3) await new Promise(setImmediate)
  await upstream.deployed()
  t.ok(node.seen.every(({ url }) => url === '/engine'))
})

t.test('an unhealthy node is not asked for its deployments', async (t) => {
  const node = await startNode(t, ({ url }, response) => response.end(url === '/engine' ? '[]' : '["a"]'))
  const { upstream } = openUpstream(t, [node.url])
  upstream.startProbes(TIMES)
  while (node.seen.length < 3) await new Promise(setImmediate)
  t.same([...new Set(node.seen.map(({ url }) => url))], ['/engine'])
})
