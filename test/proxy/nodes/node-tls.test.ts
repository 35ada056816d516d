import { copyFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { until } from '../../support/cache-harness.ts'
import { replacePem, writeCertificates } from '../../support/certificates.ts'
import { openUpstream, READ } from '../../support/fake-engine.ts'
import { makeFolder } from '../../support/temporary-folder.ts'
import { startTlsNode } from '../../support/tls-node.ts'

type Files = ReturnType<typeof writeCertificates>

/** Starts a node whose base path is that of an engine. */
async function startEngineNode(t: Test, files: Files) {
  const { origin, names, seen } = await startTlsNode(t, files)
  return { base: (host: string) => `${origin(host)}/engine-rest`, names, seen }
}

const own = (files: Files) => ({ cert: files['client.crt'], key: files['client.key'] })

t.test('a node is verified by authority and name, and the gateway presents its certificate', async (t) => {
  const files = writeCertificates(t)
  const { base, names, seen } = await startEngineNode(t, files)
  const ca = files['ca.crt']
  const byName = openUpstream(t, [base('localhost')], { tls: { ca, ...own(files) } })
  t.match(await byName.upstream.fetch(READ, 1000), { status: 200 })
  const byAddress = openUpstream(t, [base('127.0.0.1')], {
    tls: { ca, ...own(files), serverName: 'localhost' },
  })
  t.match(await byAddress.upstream.fetch(READ, 1000), { status: 200 })
  t.same(names, ['localhost', 'localhost'])
  t.match(seen, [{ client: 'client' }, { client: 'client' }])
})

t.test('a node that cannot be verified receives no request, and the error has the reason', async (t) => {
  const files = writeCertificates(t)
  const { base, seen } = await startEngineNode(t, files)
  const cases = [
    { url: base('localhost'), tls: undefined, why: /certificate/ },
    { url: base('localhost'), tls: { ca: files['other.crt'], ...own(files) }, why: /certificate/ },
    { url: base('127.0.0.1'), tls: { ca: files['ca.crt'], ...own(files) }, why: /127\.0\.0\.1|altnames/ },
    {
      url: base('localhost'),
      tls: { ca: files['ca.crt'], ...own(files), serverName: 'other' },
      why: /other|altnames/,
    },
  ]
  for (const { url, tls, why } of cases) {
    const causes: unknown[] = []
    const { upstream } = openUpstream(t, [url], { tls, connections: 1 })
    await upstream.fetch(READ, 1000).catch((error: unknown) => causes.push(error))
    t.match(causes, [{ code: 'GW_NO_NODE', cause: { message: why } }])
  }
  t.same(seen, [])
})

t.test('the Host header of a client changes neither the TLS server name nor the connection', async (t) => {
  const files = writeCertificates(t)
  const { base, names, seen } = await startEngineNode(t, files)
  const { upstream } = openUpstream(t, [base('localhost')], {
    tls: { ca: files['ca.crt'], ...own(files) },
    host: 'client',
    connections: 1,
  })
  for (const host of ['gateway.example', 'other.example', 'gateway.example'])
    t.match(await upstream.fetch({ ...READ, headers: { host } }, 1000), { status: 200 })
  t.same(
    seen.map(({ host }) => host),
    ['gateway.example', 'other.example', 'gateway.example'],
  )
  t.same(names, ['localhost'])
})

t.test('new connections use the current contents of the certificate files', async (t) => {
  const files = writeCertificates(t)
  const { base } = await startEngineNode(t, files)
  const ca = `${makeFolder(t)}/ca.crt`
  copyFileSync(files['other.crt'], ca)
  const { upstream } = openUpstream(t, [base('localhost')], { tls: { ca, ...own(files) } })
  await t.rejects(upstream.fetch(READ, 1000))
  replacePem(ca, 'ca.crt')
  await until(() =>
    upstream.fetch(READ, 1000).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
})

t.test('the next connection resumes the TLS session of the previous one', async (t) => {
  const files = writeCertificates(t)
  const { origin, resumed } = await startTlsNode(t, files, (_url, response) =>
    response.setHeader('connection', 'close').end('{}'),
  )
  const { upstream } = openUpstream(t, [`${origin('localhost')}/engine-rest`], {
    tls: { ca: files['ca.crt'], ...own(files) },
    connections: 1,
  })
  for (let count = 0; count < 3; count += 1) t.match(await upstream.fetch(READ, 1000), { status: 200 })
  t.same(resumed, [false, true, true])
})
