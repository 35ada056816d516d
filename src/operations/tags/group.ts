import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Group: 13 operations of the published API. */
export const group = [
  listOperations({
    path: '/group',
    operations: {
      GET: 'getQueryGroups',
      POST: 'postQueryGroups',
      'GET count': 'getGroupCount',
      'POST count': 'queryGroupCount',
    },
    items: { anyOf: ['GROUP.READ item:id'], crossTenant: 'ignored', prefilter: 'identities' },
  }),
  {
    availableGroupOperations: {
      route: 'OPTIONS /group',
      checks: [],
      links: { create: 'GROUP.CREATE' },
    },
    getGroup: {
      route: 'GET /group/:id',
      checks: [{ anyOf: ['GROUP.READ path:id'], denied: 404 }],
      notFound: '404 InvalidRequestException: Group with id {id} does not exist',
      loads: 'group',
    },
    // The engine writes the group with the id in the body.
    updateGroup: {
      route: 'PUT /group/:id',
      auditedChange: { action: 'update', group: 'body:id path:id' },
      checks: [
        { anyOf: ['GROUP.READ path:id'], denied: 404 },
        { anyOf: ['GROUP.UPDATE body:id'], when: 'body:id given', denied: 403 },
        { anyOf: ['GROUP.UPDATE path:id'], when: 'body:id absent', denied: 403 },
      ],
      notFound: '404 InvalidRequestException: Group with id {id} does not exist',
      loads: 'group',
    },
    deleteGroup: {
      route: 'DELETE /group/:id',
      auditedChange: { action: 'delete', group: 'path:id' },
      body: 'none',
      checks: [
        { anyOf: ['GROUP.DELETE path:id'], denied: 403 },
        { anyOf: ['GROUP.READ path:id'], denied: 403 },
      ],
      changes: ['records', 'identity'],
    },
    availableGroupInstanceOperations: {
      route: 'OPTIONS /group/:id',
      checks: [],
      links: { delete: 'GROUP.DELETE path:id', update: 'GROUP.UPDATE path:id' },
    },
    availableGroupMembersOperations: {
      route: 'OPTIONS /group/:id/members',
      checks: [],
      links: { create: 'GROUP_MEMBERSHIP.CREATE path:id', delete: 'GROUP_MEMBERSHIP.DELETE path:id' },
    },
    createGroupMember: {
      route: 'PUT /group/:id/members/:userId',
      auditedChange: { action: 'add', user: 'path:userId', group: 'path:id' },
      body: 'none',
      checks: [
        { anyOf: ['GROUP_MEMBERSHIP.CREATE path:id'], denied: 403 },
        { anyOf: ['USER.READ path:userId'], denied: 403 },
        { anyOf: ['GROUP.READ path:id'], loads: 'user(path:userId)', denied: 403, notFound: "500 NullValueException 0: No user found with id '{userId}'.: user is null" },
      ],
      changes: ['identity'],
    },
    deleteGroupMember: {
      route: 'DELETE /group/:id/members/:userId',
      auditedChange: { action: 'remove', user: 'path:userId', group: 'path:id' },
      body: 'none',
      checks: [{ anyOf: ['GROUP_MEMBERSHIP.DELETE path:id'], denied: 403 }],
      changes: ['identity'],
    },
    createGroup: {
      route: 'POST /group/create',
      auditedChange: { action: 'create', group: 'body:id' },
      creates: 'body:id',
      checks: [{ anyOf: ['GROUP.CREATE'], denied: 403 }],
      changes: ['records'],
    },
  },
] satisfies Tag
