import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { isComparisonReports } from '../../src/server/comparison-reports.ts'
import { javaSkip } from '../support/requirements.ts'
import { startScriptWorker } from './clients.ts'
import { completionsOf } from './completions.ts'
import { exchange } from './exchange.ts'
import { deployMoved, startMovedClients } from './moved-clients.ts'
import { requestsByNode } from './requests-by-node.ts'
import { shiftTo } from './shift-to.ts'
import { startTwoFamilies, type TwoFamilies } from './two-families.ts'

const INSTANCES_PER_STEP = 8
const STEPS = [
  { reads: '10%', writes: '0%' },
  { reads: '100%', writes: '10%' },
  { reads: '100%', writes: '100%' },
  { reads: '0%', writes: '0%' },
] as const
const SETTINGS = 'timeouts: { drain: 1s }'
const UPGRADE = 'org/camunda/bpm/engine/db/upgrade/h2_engine'

t.test(
  'a canary release: two groups of the same version serve one database, and their responses are equal',
  { skip: javaSkip, timeout: 300_000 },
  async (t) => {
    const families = await startTwoFamilies(t, {
      families: ['camunda-7.24.0', 'camunda-7.24.0'],
      engine: "shift: { to: new }, compare: { rate: '20%' }",
      settings: SETTINGS,
    })
    await moveAndReturn(t, families, 0)
    const { body } = await exchange(families.gateway.adminAddress, { method: 'GET', path: '/compared' })
    const { results, differences } = (isComparisonReports(body) ? body['default'] : undefined) ?? {}
    t.comment(results)
    t.same(differences, [])
    t.ok((results?.['equal'] ?? 0) > 10, 'responses were compared')
    t.notOk(results?.['known'], 'one version has no known differences to itself')
  },
)

t.test(
  'an upgrade from 7.22 to 7.24: the schema is migrated while 7.22 runs, and instances continue at 7.24',
  { skip: javaSkip, timeout: 300_000 },
  async (t) => {
    const start = { method: 'POST', path: '/process-definition/key/moved/start' } as const
    const families = await startTwoFamilies(t, {
      families: ['camunda', 'camunda-7.24.0'],
      engine: 'shift: { to: new }',
      settings: SETTINGS,
      prepare: async ({ base }, database) => {
        await deployMoved(base, ['script'])
        const before = await exchange(base, { ...start, body: { businessKey: 'before the migration' } })
        await database.runScript('camunda-7.24.0', `${UPGRADE}_7.22_to_7.23.sql`)
        await database.runScript('camunda-7.24.0', `${UPGRADE}_7.23_to_7.24.sql`)
        const after = await exchange(base, { ...start, body: { businessKey: 'after the migration' } })
        t.same([before.status, after.status], [200, 200], '7.22 continues with the schema of 7.24')
      },
    })
    const { body } = await exchange(families.next.base, { method: 'GET', path: '/schema/log' })
    t.match((Array.isArray(body) ? body : []).map((entry) => String(Object(entry).version)).toSorted(), [
      '7.22.0',
      '7.23.0',
      '7.24.0',
    ])
    await moveAndReturn(t, families, 2)
  },
)

/** Moves requests to the new group and back while clients run. Instances that ran before are completed as well. */
async function moveAndReturn(
  t: Parameters<typeof startTwoFamilies>[0],
  { old, next, gateway }: TwoFamilies,
  before: number,
): Promise<void> {
  const script = startScriptWorker({ base: gateway.base, topic: 'script', pollMs: 5000, lockMs: 600_000 })
  t.teardown(() => script.stop())
  if (before === 0) await deployMoved(gateway.base, ['script'], gateway.headers)
  const clients = startMovedClients(t, gateway)
  for (const shares of STEPS) {
    await shiftTo(gateway, shares)
    await clients.start(INSTANCES_PER_STEP)
  }
  const total = before + STEPS.length * INSTANCES_PER_STEP
  await until(() => script.completed.length >= total, 120_000).catch(() => undefined)
  await clients.stop()
  t.same(clients.unexpected, [])
  t.same(script.errors, [])
  const requests = await requestsByNode(gateway)
  for (const { base } of [old, next])
    t.ok((requests.get(base) ?? 0) > INSTANCES_PER_STEP, `${base} got requests`)
  for (const { base } of [old, next]) {
    const completions = await completionsOf(base, 'moved')
    t.equal(completions.size, total, 'each business key has one instance')
    t.same(
      [...completions.values()].filter((topics) => topics.join() !== 'script'),
      [],
      'each task was completed once',
    )
  }
}
