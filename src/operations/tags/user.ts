import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** User: 10 operations of the published API. */
export const user = [
  listOperations({
    path: '/user',
    operations: {
      GET: 'getUsers',
      'GET count': 'getUserCount',
    },
    items: { anyOf: ['USER.READ item:id'], crossTenant: 'ignored', prefilter: 'identities' },
  }),
  {
    availableOperations: {
      route: 'OPTIONS /user',
      checks: [],
      links: { create: 'USER.CREATE' },
    },
    deleteUser: {
      route: 'DELETE /user/:id',
      auditedChange: { action: 'delete', user: 'path:id' },
      body: 'none',
      checks: [
        { anyOf: ['USER.DELETE path:id'], denied: 403 },
        { anyOf: ['USER.READ path:id'], denied: 403 },
      ],
      changes: ['records', 'identity', 'lockouts'],
    },
    availableUserOperations: {
      route: 'OPTIONS /user/:id',
      checks: [],
      links: { delete: 'USER.DELETE path:id', update: 'USER.UPDATE path:id' },
    },
    updateCredentials: {
      route: 'PUT /user/:id/credentials',
      auditedChange: { action: 'set password', user: 'path:id' },
      checks: [
        { anyOf: ['USER.READ caller'], denied: 403 },
        { anyOf: ['USER.READ path:id'], denied: 404 },
        // The engine looks up the user after its first check, so a refusal of that check does not show which users exist.
        { anyOf: ['USER.UPDATE path:id'], loads: 'user', denied: 403 },
      ],
      notFound: '404 InvalidRequestException: User with id {id} does not exist',
      changes: ['identity'],
    },
    getUserProfile: {
      route: 'GET /user/:id/profile',
      checks: [{ anyOf: ['USER.READ path:id'], denied: 404 }],
      notFound: '404 InvalidRequestException: User with id {id} does not exist',
      loads: 'user',
      handler: 'own profile',
    },
    // The engine reads the user with the path's id and writes all its data, including the password, under the id in the body.
    updateProfile: {
      route: 'PUT /user/:id/profile',
      auditedChange: { action: 'update', user: 'body:id path:id' },
      checks: [
        { anyOf: ['USER.READ path:id'], denied: 404 },
        { anyOf: ['USER.UPDATE body:id'], when: 'body:id given', denied: 403 },
        { anyOf: ['USER.UPDATE path:id'], when: 'body:id absent', denied: 403 },
      ],
      notFound: '404 InvalidRequestException: User with id {id} does not exist',
      changes: ['identity'],
      loads: 'user',
    },
    unlockUser: {
      route: 'POST /user/:id/unlock',
      auditedChange: { action: 'unlock', user: 'path:id' },
      body: 'none',
      checks: [
        { admin: true, denied: 403 },
        { anyOf: ['USER.READ path:id'], denied: 403 },
      ],
      changes: ['lockouts'],
    },
    createUser: {
      route: 'POST /user/create',
      auditedChange: { action: 'create', user: 'body:profile.id' },
      creates: 'body:profile.id',
      checks: [{ anyOf: ['USER.CREATE'], denied: 403 }],
      changes: ['records', 'identity', 'lockouts'],
    },
  },
] satisfies Tag
