import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t from 'tap'
import { writeCertificates } from '../../support/certificates.ts'
import { startNode } from '../../support/fake-engine.ts'
import { BASE } from '../../support/open-gateway.ts'
import { setupsOf } from '../../support/reloadable.ts'
import { startTurnover } from '../../support/shared-port.ts'
import { startWorkers } from '../../support/started-workers.ts'

const named = (address: string) => address.replace(/(?:127\.0\.0\.1|\[::1\])/, 'localhost')

t.test(
  'workers serve TLS on the connections that they receive, and the primary on the admin listener',
  async (t) => {
    const files = writeCertificates(t)
    const before = getCACertificates('default')
    setDefaultCACertificates([readFileSync(files['ca.crt'], 'utf8')])
    t.teardown(() => setDefaultCACertificates(before))
    const node = await startNode(t)
    const tls = { cert: files['server.crt'], key: files['server.key'] }
    const gateway = await startWorkers(t, {
      ...setupsOf(node.url + BASE).ONE,
      log: { level: 'debug' },
      listen: { host: 'localhost', port: 0, tls },
      admin: { host: 'localhost', port: 0, tls },
    })
    t.match(gateway.address, /^https:/)
    t.match(gateway.adminAddress, /^https:/)
    const askAll = async () => {
      for (let count = 0; count < 6; count += 1) {
        const headers = {
          authorization: `Basic ${Buffer.from('demo:demo').toString('base64')}`,
          connection: 'close',
        }
        t.equal((await fetch(`${named(gateway.address)}${BASE}/version`, { headers })).status, 200)
      }
    }
    await askAll()
    const { stop } = await startTurnover(t, gateway)
    await askAll()
    await stop()
    const ready = await fetch(`${named(gateway.adminAddress)}/readyz`)
    t.equal(ready.status, 200)
    const metrics = await (await fetch(`${named(gateway.adminAddress)}/metrics`)).text()
    t.match(metrics, 'gateway_certificate_expiry_timestamp_seconds{certificate="listen.tls.cert"} 4949')
    t.match(metrics, 'gateway_tls_files_valid{section="listen.tls"} 1')
  },
)
