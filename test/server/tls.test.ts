import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, type AgentOptions, request } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { connect, type PeerCertificate, TLSSocket } from 'node:tls'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createListener } from '../../src/server/listener.ts'
import { until } from '../support/cache-harness.ts'
import { replacePem, writeCertificates } from '../support/certificates.ts'
import { authorizationOf, BASE, type GatewayOptions, openGateway } from '../support/open-gateway.ts'

type Files = ReturnType<typeof writeCertificates>

async function openTls(t: Test, clients: Readonly<Record<string, unknown>> | null = null) {
  const files = writeCertificates(t)
  const tls = { cert: files['server.crt'], key: files['server.key'], ...(clients && { clients }) }
  const settings: NonNullable<GatewayOptions['settings']> = { listen: { port: 0, tls } }
  const gateway = await openGateway(t, { listen: true, settings })
  const port = Number(new URL(gateway.origin).port)
  return { ...gateway, config: gateway.dependencies.config, files, port }
}

interface Asked {
  readonly status: number | undefined
  readonly peer: PeerCertificate
}

function ask(port: number, agent: Agent, user: string | null = 'demo'): Promise<Asked> {
  return askWith(port, agent, user === null ? {} : { authorization: authorizationOf(user) })
}

function askWith(port: number, agent: Agent, headers: Readonly<Record<string, string>>): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port, path: `${BASE}/version`, agent, headers },
      (answer: IncomingMessage) => {
        const peer = answer.socket instanceof TLSSocket ? answer.socket.getPeerCertificate() : null
        answer.resume()
        answer.on('end', () =>
          peer === null ? reject(new Error('no TLS')) : resolve({ status: answer.statusCode, peer }),
        )
      },
    )
    asked.on('error', reject)
    asked.end()
  })
}

function agentOf(t: Test, files: Files, options: AgentOptions = {}): Agent {
  const agent = new Agent({ ca: [files['ca.crt']].map(readPem), servername: 'localhost', ...options })
  t.teardown(() => agent.destroy())
  return agent
}

function readPem(file: string): Buffer {
  return readFileSync(file)
}

t.test('a listener with a certificate accepts TLS and nothing else', async (t) => {
  const { origin, port, files, dependencies } = await openTls(t)
  t.match(origin, /^https:/)
  t.equal((await ask(port, agentOf(t, files))).status, 200)
  const plain = connectTcp(port, '127.0.0.1')
  plain.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  plain.resume()
  plain.on('error', () => undefined)
  await once(plain, 'close')
  await until(async () => (await dependencies.metrics.text()).includes('reason="tls-handshake"} 1\n'))
})

t.test('versions below TLS 1.2 are refused, and only HTTP/1.1 is negotiated', async (t) => {
  const { port, files } = await openTls(t)
  const at = { host: '127.0.0.1', port, servername: 'localhost', ca: readPem(files['ca.crt']) }
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    const socket = connect({ ...at, minVersion: version, maxVersion: version, ciphers: 'ALL:@SECLEVEL=0' })
    const [error] = await once(socket, 'error')
    t.match(String(error), /protocol version|unsupported protocol|alert/i, version)
  }
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = connect({
      ...at,
      minVersion: version,
      maxVersion: version,
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    await once(socket, 'secureConnect')
    t.equal(socket.getProtocol(), version)
    t.equal(socket.alpnProtocol, 'http/1.1')
    socket.destroy()
  }
})

t.test('a new certificate applies to new connections, and no request is lost', async (t) => {
  const { port, files, log } = await openTls(t)
  const kept = agentOf(t, files, { keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  const fresh = () => agentOf(t, files, { rejectUnauthorized: false })
  t.equal((await ask(port, kept)).peer.subject.CN, 'server')
  const load = { isOver: false }
  const statuses: (number | undefined)[] = []
  const askers = [0, 1, 2].map(async () => {
    while (!load.isOver) statuses.push((await ask(port, fresh())).status)
  })
  replacePem(files['server.crt'], 'client.crt')
  await until(() => log.some(({ problem }) => String(problem).includes('not the key')))
  replacePem(files['server.key'], 'client.key')
  await until(async () => (await ask(port, fresh())).peer.subject.CN === 'client')
  load.isOver = true
  await Promise.all(askers)
  t.same(new Set(statuses), new Set([200]))
  t.equal((await ask(port, kept)).peer.subject.CN, 'server')
  t.ok(log.some(({ msg, section }) => msg === 'certificate reloaded' && section === 'listen.tls'))
})

t.test('an incomplete handshake does not delay a drain for long', async (t) => {
  const { config, files } = await openTls(t)
  const listener = createListener(config, {
    handle: (_request, response) => void response.end('{}'),
    metrics: { refusal: () => undefined },
    log: { info: () => undefined, error: () => undefined },
  })
  const port = Number(new URL(await listener.listen(config.listen)).port)
  t.equal((await ask(port, agentOf(t, files))).status, 200)
  const silent = connectTcp(port, '127.0.0.1')
  silent.on('error', () => undefined)
  await once(silent, 'connect')
  const gone = once(silent, 'close')
  t.same(await listener.close(wait(30_000, undefined, { ref: false })), { connections: 0, busy: 0 })
  await gone
})

t.test('client certificates', async (t) => {
  t.test('a required client certificate must be presented, and does not name the user', async (t) => {
    const files = writeCertificates(t)
    const { port } = await openTls(t, { ca: files['ca.crt'] })
    await t.rejects(ask(port, agentOf(t, files)))
    const own = { cert: readPem(files['client.crt']), key: readPem(files['client.key']) }
    t.equal((await ask(port, agentOf(t, files, own))).status, 200)
    t.equal((await ask(port, agentOf(t, files, own), null)).status, 401, 'and say nothing of the user')
  })

  t.test('a client certificate names the user if there are no credentials', async (t) => {
    const files = writeCertificates(t)
    const clients = { ca: files['ca.crt'], required: false, user: 'commonName', users: { client: 'mary' } }
    const { port, dependencies } = await openTls(t, clients)
    const own = { cert: readPem(files['client.crt']), key: readPem(files['client.key']) }
    t.equal((await ask(port, agentOf(t, files, own), null)).status, 200)
    t.equal(
      (await askWith(port, agentOf(t, files, own), { authorization: '' })).status,
      200,
      'an empty header',
    )
    t.equal((await ask(port, agentOf(t, files), null)).status, 401, 'without one')
    t.equal((await ask(port, agentOf(t, files, own), 'stranger')).status, 401, 'credentials count first')
    t.match(
      await dependencies.metrics.text(),
      'gateway_auth_total{engine="default",result="verified",method="certificate"} 1\n',
    )
  })

  t.test('a client certificate that names no known user is refused', async (t) => {
    const files = writeCertificates(t)
    const own = { cert: readPem(files['client.crt']), key: readPem(files['client.key']) }
    const cases = [
      {},
      { users: { other: 'mary' } },
      { users: { CLIENT: 'mary' } },
      { users: { client: 'MARY' } },
      { user: 'dns' },
    ]
    for (const more of cases) {
      const clients = { ca: files['ca.crt'], required: false, user: 'commonName', ...more }
      const { port } = await openTls(t, clients)
      t.equal((await ask(port, agentOf(t, files, own), null)).status, 401, JSON.stringify(more))
    }
  })

  t.test('a client certificate of another authority is ignored', async (t) => {
    const files = writeCertificates(t)
    const clients = { ca: files['other.crt'], required: false, user: 'commonName', users: { client: 'mary' } }
    const { port } = await openTls(t, clients)
    const own = { cert: readPem(files['client.crt']), key: readPem(files['client.key']) }
    t.equal((await ask(port, agentOf(t, files, own), null)).status, 401)
    t.equal((await ask(port, agentOf(t, files, own))).status, 200)
  })
})
