import t from 'tap'
import type { AuthorizationRecord } from '../../src/operations/authorization-record.ts'
import type { EngineIdentities, IdentifiedRecord } from '../../src/transfer/engine-content.ts'
import { planMemberships, planRecords } from '../../src/transfer/import-plan.ts'

const record = (more: Partial<AuthorizationRecord> = {}): AuthorizationRecord => ({
  type: 1,
  permissions: ['READ'],
  userId: 'mary',
  resourceType: 7,
  resourceId: '*',
  ...more,
})
const stored = (id: string, more: Partial<AuthorizationRecord> = {}): IdentifiedRecord => ({
  groupId: null,
  ...record(more),
  id,
})
const KEEP = { remove: false }
const REMOVE = { remove: true }

t.test('a record with the same permissions in another order is not changed', async (t) => {
  const wanted = [record({ permissions: ['UPDATE', 'READ'] }), record({ type: 0, userId: null })]
  const found = [stored('1', { permissions: ['READ', 'UPDATE'] }), stored('2', { type: 0, userId: '*' })]
  t.same(planRecords(wanted, found, REMOVE), [])
})

t.test('records are created, changed and, if that is requested, removed', async (t) => {
  const wanted = [record({ userId: null, groupId: 'a/b' }), record({ permissions: ['ALL'] })]
  const found = [stored('1'), stored('id/2', { resourceId: 'x' })]
  const steps = planRecords(wanted, found, REMOVE)
  t.match(steps, [
    {
      kind: 'create',
      what: 'grant group a/b TASK * READ',
      request: {
        method: 'POST',
        path: '/authorization/create',
        body: {
          type: 1,
          permissions: ['READ'],
          userId: null,
          groupId: 'a/b',
          resourceType: 7,
          resourceId: '*',
        },
      },
    },
    {
      kind: 'change',
      what: 'grant user mary TASK * ALL (before: READ)',
      request: {
        method: 'PUT',
        path: '/authorization/1',
        body: { permissions: ['ALL'], userId: 'mary', groupId: null, resourceType: 7, resourceId: '*' },
      },
    },
    { kind: 'remove', request: { method: 'DELETE', path: '/authorization/id%2F2' } },
  ])
  t.same(planRecords(wanted, found, KEEP), steps.slice(0, 2))
})

t.test('revocations are written before other records, and removed after them', async (t) => {
  const wanted = [record({ type: 0, userId: '*' }), record({ userId: 'a' }), record({ type: 2 })]
  const found = [
    stored('1', { type: 2, resourceId: 'x' }),
    stored('2', { type: 1, resourceId: 'x' }),
    stored('3', { type: 0, userId: '*', resourceId: 'x' }),
  ]
  t.same(
    planRecords(wanted, found, REMOVE).map(({ what }) => what),
    [
      'revoke user mary TASK * READ',
      'global TASK * READ',
      'grant user a TASK * READ',
      'grant user mary TASK x READ',
      'global TASK x READ',
      'revoke user mary TASK x READ',
    ],
  )
})

t.test('no caller has more permissions during an import than before or after', async (t) => {
  const grant = { permissions: ['READ', 'UPDATE'] }
  const found = [
    stored('reduced', { type: 2, ...grant }),
    stored('extended', { type: 2, permissions: ['READ'], resourceId: 'a' }),
    stored('both', { type: 2, permissions: ['READ', 'UPDATE'], resourceId: 'b' }),
    stored('grant', { userId: 'ben', ...grant }),
    stored('old', { userId: 'old' }),
  ]
  const wanted = [
    record({ type: 2 }),
    record({ userId: 'ben' }),
    record({ type: 2, ...grant, resourceId: 'a' }),
    record({ type: 2, permissions: ['UPDATE', 'DELETE'], resourceId: 'b' }),
  ]
  const steps = planRecords(wanted, found, REMOVE)
  t.same(
    steps.map(({ what }) => what),
    [
      'revoke user mary TASK a READ,UPDATE (before: READ)',
      'revoke user mary TASK b READ,UPDATE,DELETE (before: READ,UPDATE)',
      'grant user ben TASK * READ (before: READ,UPDATE)',
      'grant user old TASK * READ',
      'revoke user mary TASK * READ (before: READ,UPDATE)',
      'revoke user mary TASK b UPDATE,DELETE (before: READ,UPDATE,DELETE)',
    ],
  )
  const written = steps.filter(({ request }) => request.path === '/authorization/both')
  t.match(written, [
    { request: { body: { permissions: ['READ', 'UPDATE', 'DELETE'] } } },
    { request: { body: { permissions: ['UPDATE', 'DELETE'] } } },
  ])
})

const IDENTITIES: EngineIdentities = {
  users: ['mary', 'ben'].map((id) => ({ id, details: {} })),
  groups: [{ id: 'clerks', details: {}, members: ['mary', 'ben'] }],
  tenants: [
    { id: 'acme', details: {}, users: ['mary'], groups: ['clerks'] },
    { id: 'globex', details: {}, users: ['mary'], groups: [] },
  ],
}

t.test('groups and tenants that users of the engine need are created with their members', async (t) => {
  const wanted = [
    { id: 'mary', groups: ['clerks', 'a b'], tenants: ['acme', 'globex', 'new'] },
    { id: 'ghost', groups: ['ghosts'], tenants: [] },
  ]
  const { steps, missingUsers } = planMemberships(wanted, IDENTITIES, KEEP)
  t.match(steps, [
    { request: { method: 'POST', path: '/group/create', body: { id: 'a b' } } },
    { request: { method: 'PUT', path: '/group/a%20b/members/mary' } },
    { request: { method: 'POST', path: '/tenant/create', body: { id: 'new' } } },
    { request: { method: 'PUT', path: '/tenant/new/user-members/mary' } },
  ])
  t.equal(steps.length, 4)
  t.same(missingUsers, ['ghost'])
})

t.test('memberships that the file does not contain are removed only if that is requested', async (t) => {
  const wanted = [
    { id: 'mary', groups: ['clerks'], tenants: [] },
    { id: 'ben', groups: [], tenants: [] },
  ]
  t.same(planMemberships(wanted, IDENTITIES, KEEP).steps, [])
  t.match(planMemberships(wanted, IDENTITIES, REMOVE).steps, [
    { kind: 'remove', request: { method: 'DELETE', path: '/group/clerks/members/ben' } },
    { kind: 'remove', request: { method: 'DELETE', path: '/tenant/acme/user-members/mary' } },
    { kind: 'remove', request: { method: 'DELETE', path: '/tenant/globex/user-members/mary' } },
  ])
})

t.test('--remove also removes memberships of users that the file does not contain', async (t) => {
  const wanted = [{ id: 'ben', groups: ['clerks'], tenants: ['acme'] }]
  t.same(planMemberships(wanted, IDENTITIES, KEEP), { steps: [], missingUsers: [] })
  t.same(
    planMemberships(wanted, IDENTITIES, REMOVE).steps.map(({ what }) => what),
    [
      'membership of user mary in group clerks',
      'membership of user mary in tenant acme',
      'membership of user mary in tenant globex',
    ],
  )
})
