import t from 'tap'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { createOnNodeChange } from '../../src/assembly/running-nodes.ts'
import { refusingUrl } from '../support/fake-engine.ts'
import { engineSources, startGateway } from '../support/running-gateway.ts'
import { startStandIn } from '../support/stand-in.ts'

const linesOf = (text: string, start: string) => text.split('\n').filter((line) => line.startsWith(start))

t.test('metrics and readiness show which nodes are considered healthy', async (t) => {
  const engine = await startStandIn(t)
  const down = await refusingUrl()
  const drained = await refusingUrl()
  const { admin } = await startGateway(t, {
    ...engineSources(engine.base),
    engines: {
      default: { nodes: [down, engine.base, { url: drained, drain: true }] },
      away: { nodes: [down] },
      unseen: { nodes: [down], health: { probe: false } },
      drained: { nodes: [{ url: drained, drain: true }] },
    },
    authorization: { mode: 'off', records: { source: 'engine' } },
  })
  const told = async (): Promise<string> => {
    const { text } = await admin('/metrics')
    return /engine="away",node="[^"]+"\} 0/.test(text) && /engine="default",node="[^"]+"\} 0/.test(text)
      ? text
      : told()
  }
  const text = await told()
  t.match(linesOf(text, 'gateway_node_healthy{'), [
    `gateway_node_healthy{engine="default",node="${down}"} 0`,
    `gateway_node_healthy{engine="default",node="${engine.base}"} 1`,
    `gateway_node_healthy{engine="away",node="${down}"} 0`,
  ])
  t.match(text, `gateway_node_ejections_total{engine="default",node="${down}",reason="refused"} 1\n`)
  const ready = await admin('/readyz?verbose')
  t.equal(ready.status, 200, 'an engine that is away is no reason to leave the others')
  t.match(ready.text, '[-] nodes of default: 1 of 2 are ejected\n')
  t.match(ready.text, '[-] nodes of away: none of 1 is healthy\n')
  t.match(ready.text, '[-] nodes of drained: all are drained\n')
})

t.test('each ejection is counted and logged, and each return is only logged', async (t) => {
  const lines: Readonly<Record<string, unknown>>[] = []
  const metrics = createMetrics({ version: '1' })
  const log = createLogger({
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  })
  const onNodeChange = createOnNodeChange('default', { metrics, log })
  const node = 'http://n:8080/engine-rest'
  const detail = 'response status 404'
  onNodeChange({ node, reason: 'probe', detail, periodMs: 1000, healthy: 1, nodes: 2 })
  onNodeChange({ node, reason: null, detail: '', periodMs: 0, healthy: 2, nodes: 2 })
  t.match(lines, [
    { level: 'warn', msg: 'node ejected', engine: 'default', node, reason: 'probe', detail, healthy: 1 },
    { level: 'info', msg: 'node is healthy again', engine: 'default', node, healthy: 2, nodes: 2 },
  ])
  t.same(linesOf(await metrics.text(), 'gateway_node_ejections'), [
    `gateway_node_ejections_total{engine="default",node="${node}",reason="probe"} 1`,
  ])
})
