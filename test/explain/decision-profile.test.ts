import t from 'tap'
import { decisionProfileOf } from '../../src/explain/decision-profile.ts'
import type { PermitSubject } from '../../src/explain/permit-subject.ts'
import { SearchTurn } from '../../src/explain/search-turn.ts'
import { indexRecords, type RevokeMode } from '../../src/policy/authz/records/records.ts'
import type { Principal } from '../../src/request/principal.ts'
import { EndedTurn } from '../support/ended-turn.ts'
import { recordsOf } from '../support/people.ts'

interface ProfiledCaller extends Partial<Principal> {
  /** Default: the user `anna` without groups and tenants. */
  readonly records?: readonly string[]
  readonly hasCases?: boolean
  readonly revokes?: RevokeMode
}

function profileOf(caller: ProfiledCaller, turn = new SearchTurn()): Promise<string> {
  return decisionProfileOf(subjectOf(caller), turn)
}

function subjectOf({
  records = [],
  hasCases = false,
  revokes = 'auto',
  ...caller
}: ProfiledCaller): PermitSubject {
  return {
    principal: { userId: 'anna', groups: [], tenants: [], ...caller },
    records: indexRecords(recordsOf(records), { revokes }),
    adminGroups: ['admins'],
    adminUsers: [],
    checksTenants: true,
    impliesIdentity: true,
    linkBits: 0,
    hasCases,
  }
}

const EQUAL: Readonly<Record<string, readonly [ProfiledCaller, ProfiledCaller]>> = {
  'the name of a user': [{ userId: 'anna' }, { userId: 'ben' }],
  'the names of groups and tenants': [
    { groups: ['a', 'b'], tenants: ['x', 'y'] },
    { groups: ['c', 'd'], tenants: ['y', 'z'] },
  ],
  'the ids in records': [
    { records: ['grant anna TASK:a READ', 'grant anna TASK:b UPDATE'] },
    { records: ['grant anna TASK:d UPDATE', 'grant anna TASK:c READ'] },
  ],
  'the number of ids with the same permissions': [
    { records: ['grant anna TASK:a READ'] },
    { records: ['grant anna TASK:a READ', 'grant anna TASK:b READ'] },
  ],
  'the group with a permission': [
    { groups: ['a', 'b'], records: ['grant @a TASK:x READ'] },
    { groups: ['a', 'b'], records: ['grant @b TASK:x READ'] },
  ],
  'a second group with the same permissions': [
    { groups: ['a', 'b'], records: ['grant @a TASK:x READ'] },
    { groups: ['a', 'b'], records: ['grant @a TASK:x READ', 'grant @b TASK:x READ'] },
  ],
  'records of other callers': [{}, { records: ['grant ben TASK:* ALL', 'grant @b TASK:x READ'] }],
}

const DIFFERENT: Readonly<Record<string, readonly [ProfiledCaller, ProfiledCaller]>> = {
  'an administrator': [{ groups: ['admins'] }, { groups: ['others'] }],
  'a member of a group': [{ groups: ['a'] }, {}],
  'a member of a tenant': [{ tenants: ['x'] }, {}],
  cases: [{ hasCases: true }, {}],
  'a permission on all ids': [{ records: ['grant anna TASK:* READ'] }, {}],
  'a permission on an id': [{ records: ['grant anna TASK:x READ'] }, {}],
  'another permission': [{ records: ['grant anna TASK:x READ'] }, { records: ['grant anna TASK:x UPDATE'] }],
  'another resource': [
    { records: ['grant anna TASK:x READ'] },
    { records: ['grant anna DEPLOYMENT:x READ'] },
  ],
  'permissions on one id or on two': [
    { records: ['grant anna TASK:x READ', 'grant anna DEPLOYMENT:x READ'] },
    { records: ['grant anna TASK:x READ', 'grant anna DEPLOYMENT:y READ'] },
  ],
  'a permission of all users': [
    { records: ['everybody TASK:x READ'] },
    { records: ['grant anna TASK:x READ'] },
  ],
  'a permission of a group': [
    { groups: ['a'], records: ['grant @a TASK:x READ'] },
    { groups: ['a'], records: ['grant anna TASK:x READ'] },
  ],
  'two permissions of one group or of two': [
    { groups: ['a', 'b'], records: ['grant @a TASK:x READ,UPDATE'] },
    { groups: ['a', 'b'], records: ['grant @a TASK:x READ', 'grant @b TASK:x UPDATE'] },
  ],
  'a revocation': [
    { records: ['grant anna TASK:x READ', 'revoke anna TASK:y READ'] },
    { records: ['grant anna TASK:x READ', 'revoke anna TASK:y UPDATE'] },
  ],
  'revocations that count': [
    { records: ['revoke anna TASK:x READ'] },
    { records: ['revoke ben TASK:x READ'] },
  ],
  'a permission on the own user': [
    { records: ['grant anna USER:anna DELETE', 'grant anna USER:ben READ'] },
    { records: ['grant anna USER:anna READ', 'grant anna USER:ben DELETE'] },
  ],
  'a permission on an own group': [
    { groups: ['a'], records: ['grant anna GROUP:a DELETE', 'grant anna GROUP:b READ'] },
    { groups: ['a'], records: ['grant anna GROUP:a READ', 'grant anna GROUP:b DELETE'] },
  ],
  'a permission on an own tenant': [
    { tenants: ['a', 'c'], records: ['grant anna TENANT:c DELETE', 'grant anna TENANT:b READ'] },
    { tenants: ['a', 'c'], records: ['grant anna TENANT:c READ', 'grant anna TENANT:b DELETE'] },
  ],
  'a permission on the first tenant': [
    { tenants: ['a', 'c'], records: ['grant anna TENANT:a DELETE'] },
    { tenants: ['a', 'c'], records: ['grant anna TENANT:c DELETE'] },
  ],
}

for (const [what, [one, other]] of Object.entries(EQUAL))
  t.test(`${what} does not change the profile of a caller`, async (t) => {
    t.equal(await profileOf(one), await profileOf(other))
  })

for (const [what, [one, other]] of Object.entries(DIFFERENT))
  t.test(`callers with another profile: ${what}`, async (t) => {
    t.not(await profileOf(one), await profileOf(other))
  })

t.test('callers with another profile: the revoke mode', async (t) => {
  t.not(await profileOf({ revokes: 'always' }), await profileOf({ revokes: 'never' }))
})

t.test('other work can run after each id, also while the texts of the ids are compared', async (t) => {
  const turn = new EndedTurn()
  await profileOf(
    { records: Array.from({ length: 100 }, (_, index) => `grant anna TASK:t${index} READ`) },
    turn,
  )
  t.ok(turn.ends >= 200, `${turn.ends} times`)
})
