import t from 'tap'
import { readRules } from '../release/alerts/rules-file.ts'
import { opensslSkip, promtoolSkip, redisSkip } from '../support/requirements.ts'
import { DRILLS } from './drills.ts'

/**
 * `npm run test:drills` runs a drill for each alert. The drill causes the fault while a gateway runs. A Prometheus fires the alert, and
 * the commands of the runbook end it. `-- GatewayRedisDown` runs one drill only. All drills take about a quarter of an hour.
 */
const chosen = process.argv.slice(2)
const alerts = readRules().map(({ alert }) => alert)

t.setTimeout(0)

t.test('every alert has a drill', (t) => {
  t.same(Object.keys(DRILLS).toSorted(), alerts.toSorted())
  t.same(
    chosen.filter((alert) => !alerts.includes(alert)),
    [],
    'there are such alerts',
  )
  t.end()
})

for (const alert of chosen.length === 0 ? alerts : chosen) {
  const drill = DRILLS[alert]
  const skip = [promtoolSkip, redisSkip, opensslSkip()].find((reason) => reason !== false) ?? false
  if (drill !== undefined) t.test(alert, { skip, timeout: 600_000 }, (t) => drill(t, alert))
}
