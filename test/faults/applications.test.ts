import { copyFileSync } from 'node:fs'
import http from 'node:http'
import t, { type Test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { replacePem, writeCertificates } from '../support/certificates.ts'
import { refusingUrl, type Seen, startNode } from '../support/fake-engine.ts'
import { authorizationOf } from '../support/open-gateway.ts'
import { type Reloadable, startReloadable } from '../support/reloadable.ts'
import { makeFolder } from '../support/temporary-folder.ts'
import { startTlsNode } from '../support/tls-node.ts'
import { NAMES, reservedUrl } from '../support/watch-nodes.ts'

/** Starts a gateway as the process does, with probes every half second. */
async function startWith(
  t: Test,
  passthrough: readonly object[],
  health: Readonly<Record<string, unknown>> = {},
): Promise<Reloadable & { readonly engine: { readonly seen: readonly Seen[] } }> {
  const engine = await startNode(t, (_request, response) => response.end(NAMES))
  const gateway = await startReloadable(t, {
    engines: { default: { nodes: [engine.url], health: { interval: '500ms' } } },
    passthrough,
    health: { interval: '500ms', ...health },
  })
  return { ...gateway, engine }
}

function get({ running }: Pick<Reloadable, 'running'>, path: string): Promise<Response> {
  return fetch(running.address + path, { headers: { authorization: authorizationOf('demo') } })
}

const linesOf = ({ log }: Pick<Reloadable, 'log'>, node: string) =>
  log.filter((line) => line['node'] === node && String(line['msg']).startsWith('node '))

const own = (files: ReturnType<typeof writeCertificates>) => ({
  cert: files['client.crt'],
  key: files['client.key'],
})

t.test('a node with an unknown authority or another name receives nothing and is logged', async (t) => {
  const files = writeCertificates(t)
  const node = await startTlsNode(t, files)
  const urlAt = (host: string) => `${node.origin(host)}/app`
  const cases = [
    { upstream: urlAt('localhost'), tls: undefined, why: /certificate/ },
    { upstream: urlAt('localhost'), tls: { ca: files['other.crt'], ...own(files) }, why: /certificate/ },
    {
      upstream: urlAt('127.0.0.1'),
      tls: { ca: files['ca.crt'], ...own(files) },
      why: /127\.0\.0\.1|altnames/,
    },
    {
      upstream: urlAt('localhost'),
      tls: { ca: files['ca.crt'], ...own(files), serverName: 'other' },
      why: /other|altnames/,
    },
  ]
  const applications = cases.map(({ upstream, tls }, at) => ({
    prefix: `/app${at}`,
    upstream,
    tls,
    probe: '/',
  }))
  const gateway = await startWith(t, applications)
  for (const [at, { upstream, why }] of cases.entries()) {
    const engine = `/app${at}`
    const lines = () => linesOf(gateway, upstream).filter((line) => line['engine'] === engine)
    await until(() => lines().length > 0)
    t.match(lines(), [{ msg: 'node ejected', reason: 'probe', detail: why, healthy: 0 }])
    const answer = await get(gateway, `${engine}/x`)
    t.match([answer.status, answer.headers.get('x-gateway-error')], [503, 'GW_NO_NODE'])
  }
  t.same(node.seen, [])
})

t.test('an application receives the gateway certificate, and expiry dates are exported', async (t) => {
  const files = writeCertificates(t)
  const node = await startTlsNode(t, files)
  const tls = { ca: files['ca.crt'], ...own(files), serverName: 'localhost' }
  const upstream = node.origin('127.0.0.1')
  const gateway = await startWith(t, [{ prefix: '/app', upstream, tls }])
  t.equal((await get(gateway, '/app/x')).status, 200)
  t.match(node.seen, [{ url: '/x', client: 'client' }])
  t.same(node.names, ['localhost'])
  const end = Date.parse('2126-10-30T03:14:00Z') / 1000
  const endOf = (certificate: string) =>
    gateway.metric(`gateway_certificate_expiry_timestamp_seconds{certificate="${certificate}"}`)
  t.equal(await endOf('passthrough[0].tls.cert'), end)
  t.equal(await endOf(upstream), end)
  t.ok(await endOf('passthrough[0].tls.ca'))
  t.equal(await gateway.metric('gateway_tls_files_valid{section="passthrough[0].tls"}'), 1)
})

t.test('replaced TLS files apply to new connections, and no request is lost', async (t) => {
  const files = writeCertificates(t)
  const folder = makeFolder(t)
  const tls = { ca: files['ca.crt'], cert: `${folder}/tls.crt`, key: `${folder}/tls.key` }
  copyFileSync(files['client.crt'], tls.cert)
  copyFileSync(files['client.key'], tls.key)
  const node = await startTlsNode(t, files, (_url, response) =>
    response.writeHead(200, { Connection: 'close' }).end('{}'),
  )
  const gateway = await startWith(t, [{ prefix: '/app', upstream: node.origin('localhost'), tls }])
  const statuses: number[] = []
  const ask = async () => {
    statuses.push((await get(gateway, '/app/x')).status)
    return node.seen.at(-1)?.client
  }
  t.equal(await ask(), 'client')
  replacePem(tls.cert, 'server.crt')
  t.equal(await ask(), 'client', 'while the key is that of another certificate')
  t.equal(await gateway.metric('gateway_tls_files_valid{section="passthrough[0].tls"}'), 0)
  replacePem(tls.key, 'server.key')
  await until(async () => (await ask()) === 'server')
  t.same(new Set(statuses), new Set([200]))
  t.same(new Set(node.seen.map(({ client }) => client)), new Set(['client', 'server']))
})

t.test('file names of an application are relative to the configuration file', async (t) => {
  const files = writeCertificates(t)
  const node = await startTlsNode(t, files)
  const upstream = node.origin('localhost')
  const gateway = await startWith(t, [])
  copyFileSync(files['ca.crt'], gateway.file.replace(/gateway\.yaml$/, 'web-ca.crt'))
  const { status } = await gateway.reload({
    engines: { default: { nodes: ['http://127.0.0.1:9/engine-rest'] } },
    passthrough: [{ prefix: '/app', upstream, tls: { ca: 'web-ca.crt', ...own(files) } }],
    health: { probe: false },
  })
  t.equal(status, 200)
  t.equal((await get(gateway, '/app/x')).status, 200)
})

t.test('probes eject a dead node before a request reaches it, and restore it later', async (t) => {
  const up = await startNode(t, (_request, response) => response.end('up'))
  const served: (string | undefined)[] = []
  const dying = http.createServer(({ url }, response) => {
    served.push(url)
    response.end()
  })
  const url = await reservedUrl(dying)
  const listen = () => new Promise<void>((done) => dying.listen(Number(new URL(url).port), '127.0.0.1', done))
  await listen()
  t.teardown(() => dying.close())
  const gateway = await startWith(t, [{ prefix: '/app', nodes: [url, up.url], probe: '/health' }])
  await until(() => served.length > 0 && up.seen.length > 0)
  dying.close()
  dying.closeAllConnections()
  await until(() => linesOf(gateway, url).length > 0)
  t.match(linesOf(gateway, url), [{ engine: '/app', reason: 'refused', healthy: 1, nodes: 2 }])
  t.equal(await gateway.metric(`gateway_node_healthy{engine="/app",node="${url}"}`), 0)
  t.same(new Set(up.seen.map(({ url: path }) => path)), new Set(['/health']))
  for (let index = 0; index < 20; index += 1) t.equal(await (await get(gateway, '/app/x')).text(), 'up')
  t.same(new Set(served), new Set(['/health']), 'no request has met it')
  await listen()
  await until(() => linesOf(gateway, url).length > 1)
  t.match(linesOf(gateway, url)[1], { msg: 'node is healthy again', healthy: 2 })
  t.same(new Set(served), new Set(['/health']), 'nor has one found out that it is back')
  t.equal(await gateway.metric(`gateway_node_healthy{engine="/app",node="${url}"}`), 1)
})

t.test('a node that responds with 503 is ejected after two probes', async (t) => {
  let status = 503
  const ill = await startNode(t, (_request, response) => response.writeHead(status).end('ill'))
  const up = await startNode(t, (_request, response) => response.end('up'))
  const gateway = await startWith(t, [{ prefix: '/app', nodes: [ill.url, up.url], probe: '/health' }])
  await until(() => linesOf(gateway, ill.url).length > 0)
  t.match(linesOf(gateway, ill.url), [{ reason: 'probe', detail: 'response status 503' }])
  for (let index = 0; index < 20; index += 1) t.equal(await (await get(gateway, '/app/x')).text(), 'up')
  t.same(new Set(ill.seen.map(({ url }) => url)), new Set(['/health']))
  status = 302
  await until(() => linesOf(gateway, ill.url).length > 1)
  t.match(linesOf(gateway, ill.url)[1], { msg: 'node is healthy again' })
})

t.test('a probe requests its whole path, without credentials, and follows no redirect', async (t) => {
  const node = await startNode(t, ({ url }, response) =>
    response.writeHead(url === '/actuator/health' ? 302 : 200, { Location: '/login' }).end(),
  )
  const upstream = `${node.url}/camunda`
  const probe = '/actuator/health'
  await startWith(t, [{ prefix: '/app', upstream, probe, auth: 'none' }])
  await until(() => node.seen.length > 2)
  for (const { method, url, headers } of node.seen)
    t.same(
      { method, url, headers },
      {
        method: 'GET',
        url: probe,
        headers: { host: new URL(node.url).host, accept: '*/*', connection: 'close' },
      },
    )
})

t.test('no probe is sent without a probe path or with health.probe: false', async (t) => {
  const quiet = await startNode(t)
  const probed = await startNode(t)
  const applications = (probe: object) => [{ prefix: '/quiet', upstream: quiet.url, ...probe }]
  await startWith(t, applications({ probe: '/health' }), { probe: false })
  const { engine } = await startWith(t, [
    ...applications({}),
    { prefix: '/probed', upstream: probed.url, probe: '/health' },
  ])
  await until(() => probed.seen.length > 2 && engine.seen.length > 2)
  t.same(quiet.seen, [])
})

t.test('a reload starts and stops probes', async (t) => {
  const node = await startNode(t)
  const dead = await refusingUrl()
  const settingsOf = (probe: object) => ({
    engines: { default: { nodes: [dead] } },
    passthrough: [{ prefix: '/app', upstream: node.url, ...probe }],
    health: { interval: '500ms' },
  })
  const gateway = await startReloadable(t, settingsOf({}))
  t.same(node.seen, [])
  await gateway.reload(settingsOf({ probe: '/first' }))
  await until(() => node.seen.length > 1)
  await gateway.reload(settingsOf({ probe: '/second' }))
  // If both were probed, their requests would alternate.
  await until(() => {
    const last = node.seen.slice(-4)
    return last.length === 4 && last.every(({ url }) => url === '/second')
  })
})
