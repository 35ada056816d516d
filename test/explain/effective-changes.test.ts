import t from 'tap'
import { RESOURCES, type ResourceName } from '../../src/operations/permissions.ts'
import { isAuthorized } from '../../src/policy/authz/decision/decide.ts'
import { identityBits } from '../../src/policy/authz/entities/implicit-grants.ts'
import {
  type ComparedPolicies,
  type ComparedPolicy,
  type Pair,
  recordChangesBetween,
} from '../../src/explain/compared-policy.ts'
import {
  type EffectiveChange,
  EffectiveComparison,
  type PermissionState,
} from '../../src/explain/effective-changes.ts'
import type { Principal } from '../../src/request/principal.ts'
import { recordOf } from '../support/record-lines.ts'
import { IDS, pickFrom, policyOf, randomPolicies, seeded, USERS } from './generated-policies.ts'
import { seed } from '../support/requirements.ts'

const RESOURCES_OF_TEST: readonly ResourceName[] = ['TASK', 'PROCESS_DEFINITION', 'USER', 'GROUP']

/** Returns the state of a permission by the decision of requests. */
function stateOf(
  { records, impliesIdentity }: ComparedPolicy,
  principal: Principal,
  [resource, permission, id]: readonly [ResourceName, string, string],
): PermissionState {
  if (records.disabled.has(permission)) return 'not checked'
  const implicitBits = impliesIdentity ? identityBits(resource, id, principal) : undefined
  const decided = isAuthorized(records, principal, { resource, permission, id, implicitBits })
  return decided === null ? 'no record' : decided ? 'granted' : 'revoked'
}

/** Returns what a report says about one permission of a caller. Undefined if it says that nothing changes. */
function reported(
  changes: readonly EffectiveChange[],
  [resource, permission, id]: readonly [ResourceName, string, string],
): EffectiveChange['state'] | undefined {
  const own = changes.filter(
    (one) => one.resource === RESOURCES[resource].name && one.permission === permission,
  )
  const exact = own.find(({ resourceId }) => resourceId === id)
  if (exact !== undefined) return exact.state
  return own.find(({ resourceId, except }) => resourceId === '*' && !except.includes(id))?.state
}

/** Returns two random policies with random settings. */
function policiesWithSettings(random: () => number): ComparedPolicies {
  const revokes = pickFrom(random, ['auto', 'always', 'never'] as const)
  const disabledPermissions = random() < 0.1 ? ['READ'] : []
  return randomPolicies(random, {
    count: 14,
    resources: RESOURCES_OF_TEST,
    otherUsers: 0.3,
    options: { before: { revokes }, after: { revokes, disabledPermissions } },
  })
}

const CELLS = RESOURCES_OF_TEST.flatMap((resource) =>
  Object.keys(RESOURCES[resource].permissions).flatMap((permission) =>
    [...IDS, ...USERS, 'night', 'other'].map((id) => [resource, permission, id] as const),
  ),
)

/** Returns the principals of both policies. */
function principalsOf({ before, after }: ComparedPolicies): readonly Pair<Principal>[] {
  return USERS.map((name) => {
    const [old, fresh] = [before.users?.get(name), after.users?.get(name)]
    if (old === undefined || fresh === undefined) throw new Error('no user')
    return { before: old, after: fresh }
  })
}

t.test(
  'the report equals the decisions before and after for every user, resource, permission and id',
  async (t) => {
    const random = seeded(31 * seed)
    let [changed, unchanged] = [0, 0]
    for (let round = 0; round < 60; round += 1) {
      const policies = policiesWithSettings(random)
      const report = new EffectiveComparison(policies, recordChangesBetween(policies)).changes()
      for (const { before, after } of principalsOf(policies)) {
        const changes = report
          .filter(({ subjects }) =>
            subjects.some(({ kind, name }) => kind === 'user' && name === before.userId),
          )
          .flatMap((one) => one.changes)
        for (const cell of CELLS) {
          const state = {
            before: stateOf(policies.before, before, cell),
            after: stateOf(policies.after, after, cell),
          }
          const expected = state.before === state.after ? undefined : state
          const actual = reported(changes, cell)
          if (JSON.stringify(actual) !== JSON.stringify(expected))
            t.fail(JSON.stringify({ round, before, cell, expected, actual }))
          if (expected === undefined) unchanged += 1
          else changed += 1
        }
      }
    }
    t.ok(changed > 2_000, `${changed} decisions change`)
    t.ok(unchanged > 2_000, `${unchanged} decisions do not`)
  },
)

const users = new Map(
  [
    { userId: 'anna', groups: ['clerks'], tenants: [] },
    { userId: 'bob', groups: ['clerks'], tenants: [] },
  ].map((one) => [one.userId, one] as const),
)

function comparisonOf(before: readonly string[], after: readonly string[]) {
  const policies = {
    before: policyOf(before.map(recordOf), users),
    after: policyOf(after.map(recordOf), users),
  }
  const records = recordChangesBetween(policies)
  return { records, comparison: new EffectiveComparison(policies, records) }
}

t.test(
  'a record that another record covers changes nothing for that user, and the report names the other record',
  async (t) => {
    const { records, comparison } = comparisonOf(
      ['grant @clerks TASK:x READ', 'grant anna TASK:* READ'],
      ['grant anna TASK:* READ'],
    )
    t.match(records, [{ change: 'removed', groupId: 'clerks', removed: ['READ'], added: [] }])
    t.match(comparison.changes(), [
      {
        subjects: [
          { kind: 'group', name: 'clerks' },
          { kind: 'user', name: 'bob' },
        ],
        changes: [
          {
            permission: 'READ',
            resource: 'Task',
            resourceId: 'x',
            state: { before: 'granted', after: 'no record' },
          },
        ],
      },
    ])
    t.match(comparison.covered(records), [
      {
        permission: 'READ',
        subject: { kind: 'user', name: 'anna' },
        state: 'granted',
        decidedBy: { after: { level: 'user', subject: 'anna', resourceId: '*' } },
      },
    ])
  },
)

t.test('another order or spelling of the same permissions is no change', async (t) => {
  const { records, comparison } = comparisonOf(
    ['grant anna TASK:x READ,UPDATE', 'grant bob TASK:x READ'],
    ['grant bob TASK:x READ', 'grant anna TASK:x UPDATE,READ'],
  )
  t.same([records, comparison.changes(), comparison.covered(records)], [[], [], []])
})

t.test('the first revocation of a user changes decisions that other records made', async (t) => {
  const { comparison } = comparisonOf(
    ['global * TASK:* READ', 'grant @clerks TASK:x UPDATE'],
    ['global * TASK:* READ', 'grant @clerks TASK:x UPDATE', 'revoke anna TASK:z DELETE'],
  )
  const [first] = comparison.changes()
  t.same(first?.subjects, [{ kind: 'user', name: 'anna' }])
  t.match(
    first?.changes.find(({ permission, resourceId }) => permission === 'UPDATE' && resourceId === '*'),
    { state: { before: 'no record', after: 'revoked' }, except: ['x'] },
  )
})
