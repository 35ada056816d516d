import t from 'tap'
import { until } from '../../support/cache-harness.ts'
import { startCollector } from '../../support/collector.ts'
import { startNode } from '../../support/fake-engine.ts'
import { BASE } from '../../support/open-gateway.ts'
import { startWorkers } from '../../support/started-workers.ts'

t.test('each worker exports its own spans, and no span is missing', async (t) => {
  const collector = await startCollector(t)
  const node = await startNode(t)
  const gateway = await startWorkers(t, {
    engines: { default: { nodes: [node.url + BASE] } },
    traces: { endpoint: collector.url, sampleRatio: '100%' },
  })
  const exporting = () => new Set(collector.spans.map(({ resource }) => resource['process.pid']))
  await until(async () => {
    await gateway.ask('/version')
    return exporting().size === 2
  }, 20_000)
  t.same(exporting(), new Set(gateway.pids().values()))
  t.equal(new Set(collector.spans.map(({ resource }) => resource['service.instance.id'])).size, 2)
  gateway.kill('SIGTERM')
  t.equal(await gateway.exit, 0)
  const asked = node.seen.filter(({ url }) => url === `${BASE}/version`).length
  t.equal(collector.spans.filter(({ name }) => name === 'getRestAPIVersion').length, asked)
})
