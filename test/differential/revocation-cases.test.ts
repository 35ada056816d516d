import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { changesOf, isOfIdentity, revocationCases } from './revocation-cases.ts'

const ROUTES = OPERATIONS.map(({ method, template }) => `${method} ${template}`)
const MANY = revocationCases(7, 700)

t.test('the same seed gives the same cases, and another seed gives others', async (t) => {
  t.same(revocationCases(7, 14), MANY.slice(0, 14))
  t.notSame(revocationCases(8, 14), MANY.slice(0, 14))
})

t.test('every kind of change occurs, and each change is a request of the table', async (t) => {
  const changes = new Set(MANY.map(({ change }) => change))
  t.equal(changes.size, 12)
  for (const one of MANY) {
    for (const { route } of changesOf(one)) t.ok(ROUTES.includes(route), route)
    t.equal(changesOf(one).length === 0, one.change === 'nothing', one.change)
  }
})

t.test('a change of the caller is not a change of records', async (t) => {
  const ofIdentity = new Set(MANY.map(({ change }) => change).filter(isOfIdentity))
  t.same([...ofIdentity].toSorted(), [
    'change the password',
    'delete the user',
    'leave the group',
    'leave the tenant',
  ])
})

t.test('a caller who leaves a tenant belongs to it before', async (t) => {
  for (const { change, tenant, tenants } of MANY) {
    if (change === 'leave the tenant') t.equal(tenant, 'acme')
    t.same(tenants, tenant === null ? [] : [tenant])
  }
})
