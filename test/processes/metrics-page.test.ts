import { readFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { describeMetrics, METRICS_PAGE, metricsPage } from '../../docs/generate-metrics.ts'
import { until } from '../support/cache-harness.ts'
import { startNode } from '../support/fake-engine.ts'
import { promtoolSkip } from '../support/requirements.ts'
import { startReloadable } from '../support/reloadable.ts'
import { startWorkers } from '../support/started-workers.ts'

t.test('docs/metrics.md equals the output of npm run docs:metrics', async (t) => {
  t.equal(readFileSync(METRICS_PAGE, 'utf8'), await metricsPage())
})

/** Returns the metric names in a text in Prometheus format. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => String(name)).toSorted()
}

/** Returns the problems that promtool reports. */
function problemsIn(text: string): string {
  const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
  return stdout + stderr
}

t.test('a running gateway exports the metrics of the page, and promtool reports no problem', async (t) => {
  const node = await startNode(t, (_request, response) => void response.end('[{"name":"default"}]'))
  const { running, ask } = await startReloadable(t, { engines: { default: { nodes: [node.url] } } })
  for (const user of ['demo', 'mary', 'stranger']) await (await ask(user, '/task')).text()
  const text = await (await fetch(`${running.adminAddress}/metrics`)).text()
  const described = (await describeMetrics()).map(({ name }) => name)
  t.same(
    namesIn(text),
    described.filter((name) => name !== 'gateway_workers'),
  )
  if (promtoolSkip === false) t.equal(problemsIn(text), '')
  else t.pass(promtoolSkip)
})

t.test('promtool reports no problem in the metrics of several workers', { skip: promtoolSkip }, async (t) => {
  const node = await startNode(t, (_request, response) => void response.end('[{"name":"default"}]'))
  const { ask, admin } = await startWorkers(t, { engines: { default: { nodes: [node.url] } } })
  await until(async () => (await ask('/task')).status > 0, 20_000)
  const { text } = await admin('/metrics')
  t.match(text, /^gateway_workers 2$/m)
  t.equal(problemsIn(text), '')
})
