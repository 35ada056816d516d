import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { writeCertificates } from '../../support/certificates.ts'
import { type GatewayOptions, openGateway } from '../../support/open-gateway.ts'
import { helmSkip } from '../../support/requirements.ts'
import { at, find, render } from './render.ts'

const TLS = ['cert', 'key'].map((file) => `config.listen.tls.${file}=/run/secrets/tls/tls.${file}`)
const CERTIFICATES = [...TLS, 'config.listen.tls.clients.ca=/run/secrets/tls/clients.crt']

/** Runs the script of `helm test` against another address. Returns its exit code and its output. */
async function testOf(origin: string, ...sets: readonly string[]) {
  const pod = find(render(...sets), 'Pod', 'gw-engine-gateway-refuses-strangers')
  const script = String(at(pod, 'spec.containers.0.command.2'))
  const moved = script.replace(/https?:\/\/gw-engine-gateway:80/, origin)
  const child = spawn(process.execPath, ['--eval', moved], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await once(child, 'close')
  return { code: child.exitCode, said: said.trimEnd() }
}

function portOf(server: Server | ReturnType<typeof createTlsServer>): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Starts a gateway. Returns its origin. */
async function originOf(t: Test, settings: NonNullable<GatewayOptions['settings']> = {}): Promise<string> {
  return (await openGateway(t, { listen: true, settings })).origin
}

function listenTls(t: Test, clients: Readonly<Record<string, unknown>> | null = null) {
  const files = writeCertificates(t)
  const tls = { cert: files['server.crt'], key: files['server.key'] }
  return {
    listen: { port: 0, tls: { ...tls, ...(clients && { clients: { ca: files['ca.crt'], ...clients } }) } },
  }
}

t.test('the test of the chart', { skip: helmSkip }, async (t) => {
  await t.test('it passes if the gateway refuses a request without credentials', async (t) => {
    t.same(await testOf(await originOf(t)), { code: 0, said: 'refused: 401' })
  })

  await t.test('it passes if operations are open, and if no engine is the default engine', async (t) => {
    const open = ['engines', 'verify', 'passwordPolicy']
    const identity = { source: 'file', file: 'users.yaml', open }
    const origin = await originOf(t, { identity })
    t.equal((await fetch(`${origin}/engine-rest/engine`)).status, 200)
    t.equal((await testOf(origin, `config.identity.open={${open.join(',')}}`)).code, 0)
    const orders = { orders: { nodes: ['http://127.0.0.1:1/engine-rest'] } }
    t.equal((await testOf(await originOf(t, { engines: orders }))).code, 0)
  })

  await t.test('it passes with TLS', async (t) => {
    t.same(await testOf(await originOf(t, listenTls(t)), ...TLS), { code: 0, said: 'refused: 401' })
  })

  await t.test('it passes if the gateway requires certificates of clients', async (t) => {
    t.match(await testOf(await originOf(t, listenTls(t, {})), ...CERTIFICATES), {
      code: 0,
      said: /^refused: ERR_SSL_\w*CERTIFICATE_REQUIRED$/,
    })
  })

  await t.test('it passes if the gateway accepts certificates of clients', async (t) => {
    const origin = await originOf(t, listenTls(t, { required: false }))
    const sets = [...CERTIFICATES, 'config.listen.tls.clients.required=false']
    t.same(await testOf(origin, ...sets), { code: 0, said: 'refused: 401' })
  })

  await t.test('it fails if a client without a certificate is not refused with an alert', async (t) => {
    const files = writeCertificates(t)
    const [cert, key] = [files['server.crt'], files['server.key']].map((file) => readFileSync(file))
    const server = createTlsServer({ cert, key }, (socket) => socket.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    t.same(await testOf(`https://127.0.0.1:${portOf(server)}`, ...CERTIFICATES), {
      code: 1,
      said: 'not refused: the connection was closed without an alert',
    })
  })

  await t.test('it fails if there is no gateway', async (t) => {
    for (const sets of [[], TLS, CERTIFICATES])
      t.same(await testOf(`${sets.length === 0 ? 'http' : 'https'}://127.0.0.1:1`, ...sets), {
        code: 1,
        said: 'not refused: ECONNREFUSED',
      })
  })

  await t.test('it uses a host that the gateway serves', async (t) => {
    const hosts: (string | undefined)[] = []
    const server = createServer(({ headers }, response) => {
      hosts.push(headers.host)
      response.writeHead(headers.host === 'stranger.example' ? 200 : 401).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const origin = `http://127.0.0.1:${portOf(server)}`
    t.match(await testOf(origin), { code: 0 })
    t.match(await testOf(origin, 'config.hosts={gateway.example.org,b.example.org}'), { code: 0 })
    t.match(await testOf(origin, 'config.hosts={stranger.example}'), { code: 1, said: 'not refused: 200' })
    t.same(hosts, [`127.0.0.1:${portOf(server)}`, 'gateway.example.org', 'stranger.example'])
  })
})
