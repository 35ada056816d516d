import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { replacePem, writeCertificates } from '../support/certificates.ts'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'

const endOf = (text: string) => Date.parse(text) / 1000

t.test('metrics show when certificates expire and whether the files are valid', async (t) => {
  const files = writeCertificates(t)
  const node = await startNode(t)
  const { metric } = await startReloadable(t, {
    engines: { default: { nodes: [node.url] } },
    listen: { port: 0, tls: { cert: files['server.crt'], key: files['server.key'] } },
  })
  const end = 'gateway_certificate_expiry_timestamp_seconds{certificate="listen.tls.cert"}'
  const valid = 'gateway_tls_files_valid{section="listen.tls"}'
  t.equal(await metric(end), endOf('2126-10-30T03:14:00Z'))
  t.equal(await metric(valid), 1)
  replacePem(files['server.crt'], 'ended.crt')
  await until(async () => (await metric(valid)) === 0)
  t.equal(await metric(end), endOf('2026-11-24T07:46:51Z'))
  replacePem(files['server.key'], 'ended.key')
  await until(async () => (await metric(valid)) === 1)
  t.equal(await metric(`gateway_certificate_expiry_timestamp_seconds{certificate="${node.url}"}`), null)
})
