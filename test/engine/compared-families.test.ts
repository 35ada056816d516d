import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { createAdmin } from '../differential/admin.ts'
import { createClient } from '../differential/http.ts'
import { Names, SIDES } from '../differential/names.ts'
import { nameWorld } from '../differential/naming.ts'
import { askOf } from '../differential/phase.ts'
import { isRead, planOf } from '../differential/plan.ts'
import { Random } from '../differential/random.ts'
import { buildWorld } from '../differential/world.ts'
import { until } from '../support/cache-harness.ts'
import { javaSkip } from '../support/requirements.ts'
import { reportOf, startTwoFamilies } from './two-families.ts'

/**
 * How often each read is sent, with other parameters and ids. `COMPARED_ROUNDS=80` sends about 20,000 requests, and
 * `COMPARED_ROUNDS=462 TAP_TIMEOUT=3600 node test/engine/compared-families.test.ts` 109,000.
 */
const ROUNDS = Number(process.env['COMPARED_ROUNDS'] ?? 6)
/** Fewer than the requests that may wait to be compared, so that none is dropped. */
const IN_FLIGHT = 8

/** Known differences between the families, which are not faults: the operation, and the place in the response. */
const EXPLAINED: readonly string[] = []

void t.test(
  'Camunda and Operaton on one database give the same responses, except for known differences',
  { skip: javaSkip, timeout: 3_600_000 },
  async (t) => {
    const { old, gateway } = await startTwoFamilies(t, {
      engine: "shift: { to: new }, compare: { rate: '100%' }",
      settings: 'limits: { pressure: { eventLoopDelay: null } }',
    })
    const client = createClient(old.base)
    t.teardown(() => client.close())
    const admin = createAdmin(client)
    const names = new Names()
    await buildWorld(admin, (name, id) => SIDES.forEach((side) => names.define(side, name, id)))
    for (const side of SIDES) await nameWorld(admin, names, side)
    const through = createClient(gateway.base)
    t.teardown(() => through.close())

    const reads = OPERATIONS.filter(({ only, effect, handler }) => {
      return only === undefined && effect === 'read' && handler === undefined
    })
    let sent = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      const plans = reads.flatMap((operation, index) => {
        const asker = { user: 'demo', group: 'editors', password: 'demo' }
        const plan = planOf(operation, names, { random: Random.of(round + 1, index), asker })
        return isRead(plan) && plan.uses === null ? [plan] : []
      })
      for (let at = 0; at < plans.length; at += IN_FLIGHT) {
        const some = plans.slice(at, at + IN_FLIGHT)
        await Promise.all(
          some.map((plan) => through.send(askOf(plan, names, 'bare'), gateway.headers['authorization'])),
        )
        sent += some.length
        await until(async () => (await reportOf(gateway)).waiting === 0)
      }
    }
    const { results, differences } = await reportOf(gateway)
    t.comment(sent, results)
    t.same(
      [...new Set(differences.map(({ operation, place }) => `${operation} ${place}`))].toSorted(),
      EXPLAINED,
    )
    t.equal(results['dropped'] ?? 0, 0)
    t.equal(results['unanswered'] ?? 0, 0)
    t.ok((results['equal'] ?? 0) > sent * 0.5, `${results['equal']} of ${sent} are equal`)
  },
)
