import t from 'tap'
import { ownQueryOf } from '../../../src/lists/prefilter/own-query.ts'
import type { Prefilter } from '../../../src/operations/prefilters.ts'

const QUERY: Prefilter = {
  by: 'keys',
  key: 'processDefinitionKey',
  keys: 'processDefinitionKeyIn',
  instances: 'processInstanceIds',
  tenants: 'two queries',
}
const PRINCIPAL = { userId: 'anna', groups: [], tenants: [] }

const ofBody = (body: unknown) =>
  ownQueryOf(QUERY, 'POST', { principal: PRINCIPAL, params: {}, query: new Map(), body })
const ofQuery = (query: Readonly<Record<string, string>>) =>
  ownQueryOf(QUERY, 'GET', {
    principal: PRINCIPAL,
    params: {},
    query: new Map(Object.entries(query)),
    body: undefined,
  })

t.test('a list is read if it is unambiguous', (t) => {
  t.match(ofBody({ processDefinitionKeyIn: ['a', 'b'] }), { keys: ['a', 'b'], isPlain: true })
  t.match(ofQuery({ processDefinitionKeyIn: 'a,b' }), { keys: ['a', 'b'], isPlain: true })
  for (const list of [[], [''], ['a', ''], ['a', 5], 'a', {}, 5])
    t.equal(ofBody({ processDefinitionKeyIn: list }), null, JSON.stringify(list))
  for (const list of ['', ',', 'a,,b']) t.equal(ofQuery({ processDefinitionKeyIn: list }), null, list)
  t.end()
})

t.test('texts and flags are read if unambiguous, and null in a body counts as absent', (t) => {
  t.match(ofBody({ processDefinitionKey: 'a', withoutTenantId: true }), { key: 'a', isWithoutTenant: true })
  t.match(ofBody({ processDefinitionKey: null, withoutTenantId: null }), {
    key: null,
    isWithoutTenant: false,
    isPlain: true,
  })
  t.match(ofQuery({ withoutTenantId: 'false' }), { isWithoutTenant: false })
  for (const body of [
    { processDefinitionKey: '' },
    { processDefinitionKey: 5 },
    { withoutTenantId: 'yes' },
    { tenantIdIn: [] },
    { tenantIdIn: [5] },
    { tenantIdIn: 'acme' },
  ])
    t.equal(ofBody(body), null, JSON.stringify(body))
  t.end()
})

t.test('a query for tenants and for items without a tenant is not planned', (t) => {
  t.equal(ofBody({ tenantIdIn: ['acme'], withoutTenantId: true }), null)
  t.equal(ofQuery({ tenantIdIn: 'acme', withoutTenantId: 'true' }), null)
  t.match(ofQuery({ tenantIdIn: 'acme', withoutTenantId: 'false' }), { tenantIds: ['acme'] })
  t.end()
})

t.test('a sort is read if it has one criterion in one of the two orders', (t) => {
  for (const [order, isDescending] of [
    ['asc', false],
    ['desc', true],
  ] as const) {
    const sort = { by: 'name', isDescending }
    t.match(ofQuery({ sortBy: 'name', sortOrder: order }), { sort })
    t.match(ofBody({ sorting: [{ sortBy: 'name', sortOrder: order }] }), { sort })
  }
  t.match(ofBody({}), { sort: null })
  for (const body of [
    { sorting: [] },
    { sorting: [{ sortBy: 'name', sortOrder: 'up' }] },
    { sorting: [{ sortBy: 'name' }] },
    {
      sorting: [
        { sortBy: 'name', sortOrder: 'asc' },
        { sortBy: 'id', sortOrder: 'asc' },
      ],
    },
    { sortBy: 'name' },
  ])
    t.match(ofBody(body), { sort: 'other' }, JSON.stringify(body))
  t.end()
})

t.test('a query with subqueries is not planned, and one with other filters is not plain', (t) => {
  t.equal(ofBody({ orQueries: [{}] }), null)
  t.equal(ofBody([]), null)
  t.match(ofBody(undefined), { isPlain: true })
  t.match(ofBody({ firstResult: 5, maxResults: 5 }), { isPlain: true })
  t.match(ofBody({ active: true }), { isPlain: false })
  t.end()
})

t.test('a query with a parameter without a name is not planned', (t) => {
  t.equal(ofQuery({ '': 'x' }), null)
  t.equal(ofQuery({ '': '', processDefinitionKey: 'a' }), null)
  t.end()
})
