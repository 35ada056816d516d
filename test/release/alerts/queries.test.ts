import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { z } from 'zod'
import { describeMetrics } from '../../../docs/generate-metrics.ts'
import type { MetricDescription } from '../../../src/metrics/registry.ts'
import { promtoolSkip } from '../../support/requirements.ts'
import { readRules } from './rules-file.ts'

const DASHBOARD = join(import.meta.dirname, '../../../helm/engine-gateway/files/dashboard.json')

const PANELS = z.object({
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      gridPos: z.object({ h: z.number(), w: z.number(), x: z.number(), y: z.number() }),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).optional(),
    }),
  ),
  templating: z.object({ list: z.array(z.object({ name: z.string(), definition: z.string().optional() })) }),
  annotations: z.object({ list: z.array(z.object({ expr: z.string() })) }),
})

/** Labels that Prometheus and the operator add to each series. */
const OF_TARGETS = ['job', 'instance', 'namespace', 'pod']
const KEYWORDS = new Set(['and', 'or', 'unless', 'offset', 'bool', 'by', 'without', 'on', 'ignoring'])

interface Query {
  readonly metrics: readonly { readonly name: string; readonly labels: readonly string[] }[]
  /** Labels of `by`, `without` and `on`. */
  readonly grouped: readonly string[]
}

/** Parses the metrics and labels of a query. It supports only the part of PromQL that these files use. promtool checks the rest. */
function readQuery(expr: string): Query {
  const bare = expr.replace(/"[^"]*"/g, '""').replace(/\[[^\]]*\]|\b\d[\w.]*/g, ' ')
  const lists = [...bare.matchAll(/\b(?:by|without|on|ignoring) *\(([^)]*)\)/g)]
  const ungrouped = bare.replace(/\b(?:by|without|on|ignoring) *\([^)]*\)/g, ' ')
  const selectors = [...ungrouped.matchAll(/([a-z_]\w*)\b *(\{[^}]*\})?(?! *\()/g)]
  return {
    grouped: lists.flatMap(([, list = '']) => list.match(/\w+/g) ?? []),
    metrics: selectors
      .filter(([, name = '']) => !KEYWORDS.has(name))
      .map(([, name = '', matchers = '']) => ({
        name,
        labels: [...matchers.matchAll(/(\w+) *(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
      })),
  }
}

/** Returns the names and labels that no series has. */
function unknownIn(expr: string, all: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const { metrics, grouped } = readQuery(expr)
  if (metrics.length === 0) return [`no metric in ${expr}`]
  const labelsOf = (name: string) => [...OF_TARGETS, ...(all.get(name) ?? [])]
  const some = metrics.flatMap(({ name }) => labelsOf(name))
  return [
    ...metrics.filter(({ name }) => !all.has(name)).map(({ name }) => name),
    ...metrics.flatMap(({ name, labels }) => labels.filter((label) => !labelsOf(name).includes(label))),
    ...grouped.filter((label) => !some.includes(label)),
  ]
}

/** Returns the series of all metrics, with their labels. */
function seriesOf(metrics: readonly MetricDescription[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    metrics.flatMap(({ name, type, labels }): readonly [string, readonly string[]][] =>
      type === 'histogram'
        ? [
            [`${name}_bucket`, [...labels, 'le']],
            [`${name}_sum`, labels],
            [`${name}_count`, labels],
          ]
        : [[name, labels]],
    ),
  )
}

const dashboard = PANELS.parse(JSON.parse(readFileSync(DASHBOARD, 'utf8')))
const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
const marked = dashboard.annotations.list.map(({ expr }) => expr)

t.test('unknown metrics and labels in a query are detected', async (t) => {
  const all = seriesOf(await describeMetrics())
  t.same(unknownIn('sum by (engine) (rate(gateway_auth_total{result="failed"}[5m])) > 0.5', all), [])
  t.same(unknownIn('rate(gateway_auth{a="b"}[5m])', all), ['gateway_auth', 'a'])
  t.same(unknownIn('sum by (user) (rate(gateway_auth_total{job="x"}[1h] offset 5m))', all), ['user'])
  t.same(unknownIn('gateway_info and on (node) gateway_node_healthy{le="x"} * 2', all), ['le'])
})

t.test('alerts use only metrics and labels of the gateway', async (t) => {
  const all = seriesOf(await describeMetrics())
  for (const { alert, expr, annotations } of readRules()) {
    t.same(unknownIn(expr, all), [], alert)
    const used = Object.values(annotations).flatMap((text) => [...text.matchAll(/\$labels\.(\w+)/g)])
    const labels = [...OF_TARGETS, ...readQuery(expr).metrics.flatMap(({ name }) => all.get(name) ?? [])]
    t.same(
      used.map(([, label = '']) => label).filter((label) => !labels.includes(label)),
      [],
      `${alert}: labels in its words`,
    )
  }
})

t.test('the dashboard uses only metrics and labels of the gateway', async (t) => {
  const all = seriesOf(await describeMetrics())
  for (const { title, targets = [] } of dashboard.panels)
    for (const { expr, legendFormat } of targets) {
      t.same(unknownIn(expr, all), [], `${title}: ${expr}`)
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
      const { metrics, grouped } = readQuery(expr)
      const labels = [...OF_TARGETS, ...grouped, ...metrics.flatMap(({ name }) => all.get(name) ?? [])]
      t.same(
        named.filter((label) => !labels.includes(label)),
        [],
        `${title}: its legend`,
      )
    }
  for (const expr of marked) t.same(unknownIn(expr, all), [], expr)
  for (const { definition } of dashboard.templating.list) {
    const [, metric = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(definition ?? '') ?? []
    if (definition === undefined) continue
    t.same(unknownIn(metric, all), [], definition)
    t.ok([...OF_TARGETS, ...(all.get(metric.replace(/\{.*/, '')) ?? [])].includes(label), definition)
  }
  t.ok(shown.length > 30)
})

t.test('the dashboard shows every metric of the gateway or a more detailed one', async (t) => {
  const told = [...shown, ...marked].join('\n')
  const own = (await describeMetrics())
    .map(({ name }) => name)
    .filter((name) => /^(gateway|camunda)_/.test(name))
  t.same(
    own.filter((name) => !new RegExp(`\\b${name}(_count)?\\b`).test(told)),
    // The share of a limit is more detailed than whether it is reached, and the state is more detailed than the number of reloads.
    ['gateway_config_reload_total', 'gateway_pressure'],
  )
})

t.test('panels of the dashboard have unique ids and titles, and do not overlap', (t) => {
  const { panels } = dashboard
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  t.equal(new Set(panels.map(({ title }) => title)).size, panels.length)
  const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
    Array.from({ length: h * w }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  )
  t.equal(new Set(cells).size, cells.length)
  t.end()
})

t.test('promtool accepts every query of the dashboard', { skip: promtoolSkip }, (t) => {
  const exprs = [...shown, ...marked].map((expr) => expr.replaceAll('$__rate_interval', '5m'))
  const rules = exprs.map((expr, index) => ({ record: `query_${index}`, expr }))
  const folder = t.testdir({ 'rules.yaml': stringify({ groups: [{ name: 'dashboard', rules }] }) })
  const said = execFileSync('promtool', ['check', 'rules', join(folder, 'rules.yaml')], { encoding: 'utf8' })
  t.match(said, `${exprs.length} rules found`)
  t.end()
})
