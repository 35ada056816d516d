import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Tenant: 14 operations of the published API. */
export const tenant = [
  listOperations({
    path: '/tenant',
    operations: {
      GET: 'queryTenants',
      'GET count': 'getTenantCount',
    },
    items: { anyOf: ['TENANT.READ item:id'], crossTenant: 'ignored' },
  }),
  {
    availableTenantResourceOperations: {
      route: 'OPTIONS /tenant',
      checks: [],
      links: { create: 'TENANT.CREATE' },
    },
    getTenant: {
      route: 'GET /tenant/:id',
      checks: [{ anyOf: ['TENANT.READ path:id'], denied: 404 }],
      notFound: '404 InvalidRequestException: Tenant with id {id} does not exist',
      loads: 'tenant',
    },
    // The engine writes the tenant with the id in the body.
    updateTenant: {
      route: 'PUT /tenant/:id',
      auditedChange: { action: 'update', tenant: 'body:id path:id' },
      checks: [
        { anyOf: ['TENANT.READ path:id'], denied: 404 },
        { anyOf: ['TENANT.UPDATE body:id'], when: 'body:id given', denied: 403 },
        { anyOf: ['TENANT.UPDATE path:id'], when: 'body:id absent', denied: 403 },
      ],
      notFound: '404 InvalidRequestException: Tenant with id {id} does not exist',
      loads: 'tenant',
    },
    deleteTenant: {
      route: 'DELETE /tenant/:id',
      auditedChange: { action: 'delete', tenant: 'path:id' },
      body: 'none',
      checks: [
        { anyOf: ['TENANT.DELETE path:id'], denied: 403 },
        { anyOf: ['TENANT.READ path:id'], denied: 403 },
      ],
      changes: ['records', 'identity'],
    },
    availableTenantInstanceOperations: {
      route: 'OPTIONS /tenant/:id',
      checks: [],
      links: { delete: 'TENANT.DELETE path:id', update: 'TENANT.UPDATE path:id' },
    },
    availableTenantGroupMembersOperations: {
      route: 'OPTIONS /tenant/:id/group-members',
      checks: [],
      links: { create: 'TENANT_MEMBERSHIP.CREATE path:id', delete: 'TENANT_MEMBERSHIP.DELETE path:id' },
    },
    createGroupMembership: {
      route: 'PUT /tenant/:id/group-members/:groupId',
      auditedChange: { action: 'add', group: 'path:groupId', tenant: 'path:id' },
      body: 'none',
      checks: [
        { anyOf: ['TENANT_MEMBERSHIP.CREATE path:id'], denied: 403 },
        { anyOf: ['TENANT.READ path:id'], denied: 403 },
        { anyOf: ['GROUP.READ path:groupId'], denied: 403 },
      ],
      changes: ['records', 'identity'],
    },
    deleteGroupMembership: {
      route: 'DELETE /tenant/:id/group-members/:groupId',
      auditedChange: { action: 'remove', group: 'path:groupId', tenant: 'path:id' },
      body: 'none',
      checks: [{ anyOf: ['TENANT_MEMBERSHIP.DELETE path:id'], denied: 403 }],
      changes: ['records', 'identity'],
    },
    availableTenantUserMembersOperations: {
      route: 'OPTIONS /tenant/:id/user-members',
      checks: [],
      links: { create: 'TENANT_MEMBERSHIP.CREATE path:id', delete: 'TENANT_MEMBERSHIP.DELETE path:id' },
    },
    createUserMembership: {
      route: 'PUT /tenant/:id/user-members/:userId',
      auditedChange: { action: 'add', user: 'path:userId', tenant: 'path:id' },
      body: 'none',
      checks: [
        { anyOf: ['TENANT_MEMBERSHIP.CREATE path:id'], denied: 403 },
        { anyOf: ['TENANT.READ path:id'], denied: 403 },
        { anyOf: ['USER.READ path:userId'], denied: 403 },
      ],
      changes: ['records', 'identity'],
    },
    deleteUserMembership: {
      route: 'DELETE /tenant/:id/user-members/:userId',
      auditedChange: { action: 'remove', user: 'path:userId', tenant: 'path:id' },
      body: 'none',
      checks: [{ anyOf: ['TENANT_MEMBERSHIP.DELETE path:id'], denied: 403 }],
      changes: ['records', 'identity'],
    },
    createTenant: {
      route: 'POST /tenant/create',
      auditedChange: { action: 'create', tenant: 'body:id' },
      creates: 'body:id',
      checks: [{ anyOf: ['TENANT.CREATE'], denied: 403 }],
      changes: ['records'],
    },
  },
] satisfies Tag
