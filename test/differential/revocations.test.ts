import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Outcome, Seen } from './compare.ts'
import type { Plan } from './plan.ts'
import type { Change } from './revocation-cases.ts'
import { revokedOutcomeOf } from './revocations.ts'

const operation = OPERATIONS.find(({ id }) => id === 'fetchAndLock')
if (operation === undefined) throw new Error('The table has no operation that fetches tasks')
const PLAN: Plan = {
  operation,
  kind: 'revoked',
  path: '/external-task/fetchAndLock',
  uses: null,
  keeps: false,
  leaves: [],
}
const seen = (status: number, body: unknown, code = ''): Seen => ({
  status,
  type: 'application/json',
  code,
  body,
})
const TASKS = seen(200, [{ topicName: 'waits1' }])
const NOTHING = seen(200, [])
const REFUSED = seen(401, null)

t.test('only a caller whose permissions have changed may get less than at the engine', async (t) => {
  for (const [change, engine, gateway, outcome] of [
    ['delete a record', TASKS, TASKS, 'equal'],
    ['delete a record', NOTHING, NOTHING, 'equal'],
    ['delete a record', TASKS, NOTHING, 'differs'],
    ['add a revocation', TASKS, NOTHING, 'differs'],
    ['nothing', TASKS, REFUSED, 'differs'],
    ['delete a record', NOTHING, TASKS, 'wider'],
    ['leave the group', NOTHING, TASKS, 'wider'],
    ['delete the user', REFUSED, TASKS, 'wider'],
    ['leave the group', TASKS, NOTHING, 'stricter'],
    ['delete the user', TASKS, REFUSED, 'stricter'],
    ['change the password', REFUSED, seen(429, {}, 'GW_THROTTLED'), 'stricter'],
    ['change the password', REFUSED, seen(401, 'x'), 'equal'],
    ['leave the tenant', TASKS, seen(500, {}), 'differs'],
    ['leave the tenant', TASKS, seen(200, [{ topicName: 'waits2' }]), 'wider'],
  ] as const satisfies readonly (readonly [Change, Seen, Seen, Outcome])[])
    t.equal(
      revokedOutcomeOf({ change }, PLAN, { engine, gateway }),
      outcome,
      JSON.stringify([change, engine, gateway]),
    )
})
