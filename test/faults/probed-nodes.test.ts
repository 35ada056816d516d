import http from 'node:http'
import t from 'tap'
import { READ, refusingUrl, startNode, startRawNode } from '../support/fake-engine.ts'
import { LIMIT, NAMES, readTimes, reservedUrl, TEN_GOOD, watch } from '../support/watch-nodes.ts'

t.test(
  'a node that accepts requests but never responds is ejected by probes before a request reaches it',
  async (t) => {
    const hole = await startRawNode(t, () => {})
    const up = await startNode(t, (_request, response) => response.end(NAMES))
    const { upstream, changed } = watch(t, [hole.url, up.url])
    upstream.startProbes({ intervalMs: 20, timeoutMs: 300 })
    t.match(await changed(), { node: hole.url, reason: 'probe', healthy: 1 })
    t.same(await readTimes(upstream, 10), TEN_GOOD)
    t.ok(hole.heard.every((text) => text.startsWith('GET /engine HTTP')))
  },
)

t.test('a node of another engine gets no request until it names the right engine', async (t) => {
  let names = '[{"name":"second"}]'
  const other = await startNode(t, (_request, response) => response.end(names))
  const right = await startNode(t, (_request, response) => response.end(NAMES))
  const { upstream, changed } = watch(t, [`${other.url}/engine-rest`, `${right.url}/engine-rest`])
  upstream.startProbes({ intervalMs: 20, timeoutMs: 5000 })
  t.match(await changed(), {
    reason: 'wrong-engine',
    detail: 'the node does not have the engine default; it has second',
  })
  await readTimes(upstream, 10)
  t.ok(other.seen.every(({ url }) => url === '/engine-rest/engine'))
  t.match(upstream.nodes(), [{ reason: 'wrong-engine' }, { reason: null }])
  names = NAMES
  t.match(await changed(), { reason: null, healthy: 2 })
})

t.test('a probe uses the remote name of the engine and the credentials of the upstream', async (t) => {
  const node = await startNode(t, (_request, response) => response.end('[{"name":"second"}]'))
  const { upstream, changed } = watch(t, [await refusingUrl(), node.url], {
    remoteName: 'second',
    credentials: 'forward',
  })
  upstream
    .withCredentials({ username: 'gate', password: 'secret' })
    .startProbes({ intervalMs: 20, timeoutMs: 5000 })
  t.match(await changed(), { reason: 'refused', healthy: 1 })
  while (node.seen.length === 0) await new Promise(setImmediate)
  t.match(node.seen[0], { url: '/engine', headers: { authorization: /^Basic / } })
  await upstream.fetch(READ, LIMIT)
  t.match(node.seen.at(-1), { url: '/engine/second/task/x', headers: { authorization: undefined } })
})

t.test('while probes run, no request is sent to an unhealthy node as a trial', async (t) => {
  const server = http.createServer((_request, response) => response.end(NAMES))
  const url = await reservedUrl(server)
  t.teardown(() => server.close())
  const up = await startNode(t, (_request, response) => response.end(NAMES))
  const { upstream, changed, clock } = watch(t, [url, up.url])
  upstream.startProbes({ intervalMs: 20, timeoutMs: 5000 })
  t.match(await changed(), { node: url, reason: 'refused' })
  clock.nowMs = 5000
  t.same(await readTimes(upstream, 10), TEN_GOOD)
  server.listen(Number(new URL(url).port), '127.0.0.1')
  t.match(await changed(), { node: url, reason: null })
})

t.test('if all nodes are unhealthy, all are tried, and the first response is used', async (t) => {
  const down = await refusingUrl()
  const names = await startNode(t, (_request, response) => response.end('[]'))
  const { upstream, changed } = watch(t, [down, names.url])
  upstream.startProbes({ intervalMs: 20, timeoutMs: 5000 })
  await Promise.all([changed(), changed()])
  t.match(upstream.nodes(), [{ reason: 'refused' }, { reason: 'wrong-engine' }])
  t.same(await readTimes(upstream, 3), [200, 200, 200])
})

t.test('a drained node receives no request, no probe and no trial', async (t) => {
  const drained = await startNode(t)
  const up = await startNode(t, (_request, response) => response.end(NAMES))
  const { upstream } = watch(t, [{ url: drained.url, drain: true }, { url: up.url }])
  upstream.startProbes({ intervalMs: 20, timeoutMs: 5000 })
  await Promise.all(Array.from({ length: 20 }, () => upstream.fetch(READ, LIMIT)))
  while (up.seen.filter(({ url }) => url === '/engine').length < 2) await new Promise(setImmediate)
  t.same(drained.seen, [])
  t.match(upstream.nodes(), [{ isDrained: true }, { isDrained: false }])
})
