import { once } from 'node:events'
import { createServer } from 'node:http'
import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { BASE } from '../support/open-gateway.ts'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'
import { runInProcess } from '../support/run-command.ts'

const held: (() => void)[] = []
const seen: string[] = []
const nodes = await Promise.all(
  ['one', 'other'].map((name) =>
    startNode(t, ({ url }, response) => {
      const answer = () => void response.setHeader('content-type', 'application/json').end('{}')
      if (url.endsWith('/version')) seen.push(name)
      if (url.endsWith('/slow')) held.push(answer)
      else answer()
    }),
  ),
)
const [one = '', other = ''] = nodes.map(({ url }) => url + BASE)
// A returned node has a tenth of its share at first. In turn, it still gets two of twenty requests.
const engine = { nodes: [one, other], balancing: 'round-robin' }
const settings = { engines: { default: engine }, health: { probe: false } }
const { running, file, ask, metric, reload, log } = await startReloadable(t, settings)

const drain = (...options: readonly string[]) =>
  runInProcess(['drain', '--config', file, '--admin', running.adminAddress, ...options])

const post = (headers: Readonly<Record<string, string>>, body = JSON.stringify({ node: one })) =>
  fetch(`${running.adminAddress}/nodes/drain`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })

/** Sends requests, and returns the nodes that received them. */
async function usedNodes(): Promise<readonly string[]> {
  seen.splice(0)
  for (let count = 0; count < 20; count += 1) t.equal((await ask('demo', '/version')).status, 200)
  return [...new Set(seen)].sort()
}

const drainedAt = (node: string) => metric(`gateway_node_drained{engine="default",node="${node}"}`)

t.test('a drained node gets no requests, also after a reload, until it is returned', async (t) => {
  t.same(await usedNodes(), ['one', 'other'])
  const { code, out, err } = await drain(one)
  t.same(
    { code, out, err },
    { code: 0, out: `${one} is drained (engine default): 0 requests running\n`, err: '' },
  )
  t.same(await usedNodes(), ['other'])
  t.same([await drainedAt(one), await drainedAt(other)], [1, 0])
  t.equal(await metric(`gateway_node_healthy{engine="default",node="${one}"}`), null)
  t.match(
    log.find(({ msg }) => msg === 'node drained'),
    { client: '127.0.0.1', node: one },
  )
  t.equal((await reload({ ...settings, limits: { connections: 9 } })).status, 200)
  t.same(await usedNodes(), ['other'])
  t.match(await drain(one, '--back', '--format', 'json'), { code: 0, out: /"drained": false/, err: '' })
  t.same(await usedNodes(), ['one', 'other'])
  t.equal(await drainedAt(one), 0)
})

t.test('a reload does not leave an engine without a node', async (t) => {
  await drain(one)
  t.equal((await reload({ ...settings, engines: { default: { nodes: [one] } } })).status, 200)
  t.same(await usedNodes(), ['one'])
  t.ok(log.some(({ msg }) => msg === 'the engine has no other node: its nodes are not drained'))
  await reload(settings)
  t.same(await usedNodes(), ['other'], 'the drain is in force again')
  await drain(one, '--back')
})

t.test('the last node is drained only with --force, and requests then get 503 at once', async (t) => {
  await drain(one)
  t.match(await drain(other), { code: 2, err: /default has no other healthy node/ })
  t.same(await usedNodes(), ['other'])
  t.match(await drain(other, '--force'), { code: 0 })
  const response = await ask('demo', '/version')
  t.equal(response.status, 503)
  t.equal(response.headers.get('x-gateway-error'), 'GW_NO_NODE')
  await drain(other, '--back')
  await drain(one, '--back')
  t.same(await usedNodes(), ['one', 'other'])
})

t.test('--wait waits for requests that run at the node', async (t) => {
  await drain(other)
  const slow = ask('demo', '/process-definition/slow')
  await until(() => held.length === 1)
  await drain(other, '--back')
  t.match(await drain(one, '--wait', '0.1'), { code: 1, out: /1 request running/ })
  const waiting = drain(one, '--wait', '20')
  held.shift()?.()
  t.equal((await slow).status, 200)
  t.match(await waiting, { code: 0, out: /0 requests running/ })
  await drain(one, '--back')
})

t.test('a node that is unknown, or not drained, and invalid arguments fail', async (t) => {
  t.match(await drain('http://127.0.0.1:1/engine-rest'), { code: 2, err: /No engine has this node/ })
  t.match(await drain(one, '--engine', 'no'), { code: 2, err: /has no such node/ })
  t.match(await drain('one'), { code: 2, err: /must be a URL/ })
  t.match(await drain(one, '--back'), { code: 2, err: /not drained by a command/ })
  t.match(await drain(one, '--wait', 'long'), { code: 2, err: /seconds up to 3600/ })
  t.match(await drain(), { code: 2, err: /missing required argument/ })
})

t.test(
  'POST /nodes/drain is refused without X-Requested-By, from a page, and with a long body',
  async (t) => {
    t.equal((await post({})).status, 403)
    t.equal((await post({ 'x-requested-by': 'a', origin: 'http://example.com' })).status, 403)
    t.equal((await post({ 'x-requested-by': 'a' }, JSON.stringify({ node: 'x'.repeat(5000) }))).status, 413)
    t.same(await usedNodes(), ['one', 'other'])
  },
)

t.test('a response of another form is an error', async (t) => {
  const server = createServer((_request, response) => void response.end('{"node":"a"}')).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  t.teardown(() => server.close())
  const at = server.address()
  const admin = `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`
  const result = await runInProcess(['drain', one, '--config', file, '--admin', admin])
  t.match(result, { code: 2, err: /not the result of a drain/ })
})
