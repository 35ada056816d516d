import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

/** The only source of the alerts, for the chart and for a Prometheus without it. */
export const RULES_FILE = join(import.meta.dirname, '../../../helm/engine-gateway/files/alerts.yaml')

const RULES = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Gateway[A-Za-z]+$/),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning', 'info']) }),
          annotations: z.strictObject({
            summary: z.string(),
            description: z.string(),
            runbook_url: z.string(),
          }),
        }),
      ),
    }),
  ),
})

export type AlertRule = z.infer<typeof RULES>['groups'][number]['rules'][number]

/**
 * Returns the alerts in the order of the file.
 * @throws if an alert lacks a required member
 */
export function readRules(): readonly AlertRule[] {
  return RULES.parse(parse(readFileSync(RULES_FILE, 'utf8'))).groups.flatMap(({ rules }) => rules)
}
