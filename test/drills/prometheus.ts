import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import { z } from 'zod'
import { type AlertRule, readRules } from '../release/alerts/rules-file.ts'
import { startChild } from '../engine/child.ts'
import { freePort } from '../support/free-port.ts'

const ALERTS = z.object({
  data: z.object({
    alerts: z.array(
      z.object({
        labels: z.record(z.string(), z.string()),
        annotations: z.record(z.string(), z.string()),
        state: z.enum(['pending', 'firing', 'inactive']),
      }),
    ),
  }),
})

export type FiringAlert = z.infer<typeof ALERTS>['data']['alerts'][number]

export interface Prometheus {
  /** Resolves to the alerts that fire now. */
  readonly firing: () => Promise<readonly FiringAlert[]>
}

/** Starts a Prometheus that scrapes the targets every second. Its rules are the alerts of the chart with shorter durations. */
export async function startPrometheus(
  t: Test,
  folder: string,
  targets: readonly string[],
): Promise<Prometheus> {
  const rules = join(folder, 'alerts.yaml')
  const config = join(folder, 'prometheus.yaml')
  await writeFile(rules, stringify({ groups: [{ name: 'drill', rules: readRules().map(shortened) }] }))
  await writeFile(
    config,
    stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '500ms' },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'gateway', static_configs: [{ targets }] }],
    }),
  )
  const port = await freePort()
  const child = await startChild({
    command: 'prometheus',
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    ready: /Server is ready to receive web requests/,
    withinMs: 60_000,
  })
  t.teardown(() => child.stop())
  return {
    firing: async () => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`)
      const { data } = ALERTS.parse(await response.json())
      return data.alerts.filter(({ state }) => state === 'firing')
    },
  }
}

/** Returns a rule with a shorter `for`, ranges and offsets: a minute or a day becomes a second, and an hour becomes a minute. */
function shortened(rule: AlertRule): object {
  const { for: wait, ...rest } = rule
  const expr = rule.expr.replace(/\b\d+[hm]\b/g, shortenedDuration)
  return { ...rest, expr, ...(wait === undefined ? {} : { for: shortenedDuration(wait) }) }
}

function shortenedDuration(text: string): string {
  return text.endsWith('h') ? text.replace('h', 'm') : text.replace(/[md]/, 's')
}
