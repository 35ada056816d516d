import t from 'tap'
import type { Check, CheckCondition } from '../../../../src/operations/notation.ts'
import { operationsOf } from '../../../../src/operations/compile-table.ts'
import { createAuthorize } from '../../../../src/policy/authz/checks/authorize.ts'
import { compileChecks } from '../../../../src/policy/authz/checks/compile-check.ts'
import { EMPTY_ENGINE } from '../../../support/empty-engine.ts'
import { recordsOf } from '../../../support/record-lines.ts'

/** Decides an operation with one check, for a caller without a record, if nothing can be read from the engine. */
async function decide(check: Check): Promise<unknown> {
  const [operation] = operationsOf({ tag: { row: { route: 'POST /novelty', checks: [check] } } })
  if (operation === undefined) throw new Error('no row')
  const { authorize: before } = createAuthorize(compileChecks(operation), {
    ...EMPTY_ENGINE,
    records: () => recordsOf([]),
    isOwn: async () => true,
  })
  const principal = { userId: 'anna', groups: [], tenants: [] }
  const { permitted } = await before({ principal, params: { id: 'x' }, query: new Map(), body: {} })
  return permitted
}

const OF_AN_ENTITY: readonly CheckCondition[] = [
  'the execution is no instance',
  'the incident was not created by a caller',
  'the job has an instance',
  'the job has only a definition',
  'the job runs an unknown command',
  'the job runs instance-deletion',
  'the task belongs to a case',
  'the task belongs to a process',
]

t.test('a condition on an entity that is not looked up does not switch its check off', async (t) => {
  for (const when of OF_AN_ENTITY)
    t.equal(await decide({ when, anyOf: ['PROCESS_INSTANCE.DELETE'], denied: 403 }), false, when)
})

t.test('a check that names no permission permits no caller', async (t) => {
  t.equal(await decide({ denied: 403 }), false)
})

t.test('an id that cannot exist is a mistake in the table of operations', (t) => {
  for (const [check, message] of [
    [{ allOf: ['BATCH.READ each.id', 'BATCH.CREATE'], denied: 403 }, /names each, /],
    [{ allOf: ['BATCH.READ item:id', 'BATCH.CREATE'], denied: 403 }, /names item, /],
    [{ allOf: ['BATCH.READ created.id', 'BATCH.CREATE'], denied: 403 }, /names created, /],
  ] as const)
    t.throws(
      () => operationsOf({ tag: { row: { route: 'POST /novelty', checks: [check] } } }).map(compileChecks),
      message,
    )
  t.end()
})
