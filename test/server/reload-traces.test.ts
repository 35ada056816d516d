import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { startCollector } from '../support/collector.ts'
import { startNode } from '../support/fake-engine.ts'
import { BASE } from '../support/open-gateway.ts'
import { setupsOf, startReloadable } from '../support/reloadable.ts'

const SERVER = 2
const node = await startNode(t)
const { ONE, TWO } = setupsOf(node.url + BASE)

function to(endpoint: string) {
  return { traces: { endpoint, sampleRatio: '100%' } }
}

t.test('a reload changes the settings of traces and loses no span', async (t) => {
  const [first, second] = [await startCollector(t), await startCollector(t)]
  const gateway = await startReloadable(t, ONE)
  const ask = async (name: string) => {
    const headers = { 'x-request-id': name }
    const response = await fetch(`${gateway.running.address}${BASE}/version`, { headers })
    await response.text()
  }
  const namesOf = ({ spans }: typeof first) =>
    spans.filter(({ kind }) => kind === SERVER).map(({ attributes }) => attributes['gateway.request_id'])

  await ask('before')
  t.match(await gateway.reload({ ...ONE, ...to(first.url) }), {
    value: { result: 'applied', changed: ['traces'] },
  })
  await ask('one')
  t.match(await gateway.reload({ ...TWO, ...to(first.url) }), { value: { changed: ['engines.second'] } })
  await ask('two')
  await gateway.reload({ ...TWO, ...to(second.url) })
  await ask('three')
  t.match(await gateway.reload(TWO), { status: 200 })
  await ask('after')
  await until(() => namesOf(first).length + namesOf(second).length >= 3)
  t.same([namesOf(first), namesOf(second)], [['one', 'two'], ['three']])
  const dropped = await Promise.all(
    ['queue', 'export'].map((reason) =>
      gateway.metric(`gateway_trace_spans_dropped_total{reason="${reason}"}`),
    ),
  )
  t.same(dropped, [0, 0])
})
