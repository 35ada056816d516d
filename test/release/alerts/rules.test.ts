import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { promtoolSkip } from '../../support/requirements.ts'
import { type AlertCase, CASES } from './cases.ts'
import { type AlertRule, readRules, RULES_FILE } from './rules-file.ts'

const rules = readRules()
const skip = promtoolSkip
/** All series of a case end before this minute. */
const LAST_MINUTE = 120
/** Several gateways that one Prometheus scrapes. The others have no fault. */
const FAULTY = { namespace: 'one', job: 'gw' }
const OTHERS = [
  { namespace: 'two', job: 'gw' },
  { namespace: 'one', job: 'other' },
]

t.test('every alert has a case, and every case has an alert', (t) => {
  t.same(Object.keys(CASES).toSorted(), rules.map(({ alert }) => alert).toSorted())
  t.end()
})

t.test('promtool accepts the rules file', { skip }, (t) => {
  t.match(promtool('check', 'rules', RULES_FILE), `${rules.length} rules found`)
  t.end()
})

t.test('every alert fires in time, and does not fire just below its threshold', { skip }, (t) => {
  const cases = rules.flatMap((rule) => {
    const alertCase = CASES[rule.alert]
    return alertCase === undefined ? [] : [{ rule, alertCase }]
  })
  // Each case has only its own rule, because promtool evaluates all rules in the files of a test.
  const folder = t.testdir(
    Object.fromEntries(
      cases.flatMap(({ rule, alertCase }) => [
        [`${rule.alert}.rule.yaml`, stringify({ groups: [{ name: 'one', rules: [rule] }] })],
        [`${rule.alert}.yaml`, unitTestOf(rule, alertCase)],
      ]),
    ),
  )
  // The message of promtool for a failure begins with the name of its file.
  const files = cases.map(({ rule }) => join(folder, `${rule.alert}.yaml`))
  t.doesNotThrow(() => promtool('test', 'rules', ...files))
  t.end()
})

t.test('the alert for an expired certificate has its own text', { skip }, (t) => {
  const [rule] = rules.filter(({ alert }) => alert === 'GatewayCertificateEnding')
  const { summary: _summary, description: _description, ...annotations } = rule?.annotations ?? {}
  const series = 'gateway_certificate_expiry_timestamp_seconds{job="gw",certificate="listen.tls.cert"}'
  const labels = { severity: 'warning', job: 'gw', certificate: 'listen.tls.cert' }
  const toldAt = (minute: number, summary: string, description: string) => ({
    eval_time: textOf(minute),
    alertname: rule?.alert,
    exp_alerts: [{ exp_labels: labels, exp_annotations: { ...annotations, summary, description } }],
  })
  const folder = t.testdir({
    'rule.yaml': stringify({ groups: [{ name: 'one', rules: [rule] }] }),
    'test.yaml': stringify({
      rule_files: ['rule.yaml'],
      evaluation_interval: '30s',
      tests: [
        {
          interval: '30s',
          input_series: inputOf({ [series]: '3600x240' }),
          alert_rule_test: [
            toldAt(
              30,
              'The certificate listen.tls.cert expires in 30m 0s.',
              'After the expiry, new connections that verify it fail. The gateway loads a new file without a restart.',
            ),
            toldAt(
              60,
              'The certificate listen.tls.cert HAS EXPIRED.',
              'CRITICAL: new connections that verify it fail. Open connections continue. The gateway loads a new file without a restart.',
            ),
          ],
        },
      ],
    }),
  })
  t.match(promtool('test', 'rules', join(folder, 'test.yaml')), /SUCCESS/)
  t.end()
})

function promtool(...args: readonly string[]): string {
  return execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' })
}

/** Checks firing alerts with the series that Prometheus records, because `exp_alerts` would repeat the texts of the annotations. */
function unitTestOf({ alert, labels: own }: AlertRule, alertCase: AlertCase): string {
  const expr = `ALERTS{alertname="${alert}",alertstate="firing"}`
  const { fires, quiet, atMinute, labels } = alertCase
  const samplesOf = (target: Readonly<Record<string, string>>) =>
    [labels].flat().map((of) => {
      const named = Object.entries({ alertname: alert, alertstate: 'firing', ...own, ...of, ...target })
      return { labels: `ALERTS{${named.map(([name, value]) => `${name}="${value}"`).join(',')}}`, value: 1 }
    })
  const none = (minute: number) => ({ expr, eval_time: textOf(minute) })
  const everyMinute = Array.from({ length: LAST_MINUTE }, (_, minute) => none(minute))
  return stringify({
    rule_files: [`${alert}.rule.yaml`],
    evaluation_interval: '30s',
    tests: [
      {
        interval: '30s',
        input_series: inputOf(fires),
        promql_expr_test: [
          none(atMinute - 1),
          { expr, eval_time: textOf(atMinute), exp_samples: samplesOf({}) },
        ],
      },
      {
        interval: '30s',
        input_series: [...inputOf(fires, FAULTY), ...OTHERS.flatMap((other) => inputOf(quiet, other))],
        promql_expr_test: [
          none(atMinute - 1),
          { expr, eval_time: textOf(atMinute), exp_samples: samplesOf(FAULTY) },
        ],
      },
      { interval: '30s', input_series: inputOf(quiet), promql_expr_test: everyMinute },
    ],
  })
}

function textOf(minutes: number): string {
  return `${minutes * 60}s`
}

/** Returns the series, with other labels of the target if they are given. */
function inputOf(series: AlertCase['fires'], target?: typeof FAULTY) {
  const given = 'job="gw"'
  const labels = target === undefined ? given : `namespace="${target.namespace}",job="${target.job}"`
  return Object.entries(series).map(([name, values]) => ({ series: name.replace(given, labels), values }))
}
