import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Authorization: 9 operations of the published API. */
export const authorization = [
  listOperations({
    path: '/authorization',
    operations: {
      GET: 'queryAuthorizations',
      'GET count': 'getAuthorizationCount',
    },
    items: { anyOf: ['AUTHORIZATION.READ item:id'], crossTenant: 'ignored' },
  }),
  {
    availableOperationsAuthorization: {
      route: 'OPTIONS /authorization',
      checks: [],
      links: { create: 'AUTHORIZATION.CREATE' },
    },
    getAuthorization: {
      route: 'GET /authorization/:id',
      checks: [{ anyOf: ['AUTHORIZATION.READ path:id'], denied: 404 }],
      notFound: '404 InvalidRequestException: Authorization with id {id} does not exist.',
      loads: 'authorization',
    },
    updateAuthorization: {
      route: 'PUT /authorization/:id',
      auditedChange: { action: 'update', authorization: 'path:id' },
      body: 'AuthorizationUpdateDto',
      checks: [
        { anyOf: ['AUTHORIZATION.READ path:id'], denied: 404 },
        // The engine reads the record, then validates the body, and checks UPDATE last.
        { name: 'update', anyOf: ['AUTHORIZATION.UPDATE path:id'], loads: 'authorization', denied: 403 },
      ],
      notFound: '404 InvalidRequestException: Authorization with id {id} does not exist.',
      changes: ['records'],
      loads: 'authorization',
    },
    deleteAuthorization: {
      route: 'DELETE /authorization/:id',
      auditedChange: { action: 'delete', authorization: 'path:id' },
      body: 'none',
      checks: [
        { anyOf: ['AUTHORIZATION.READ path:id'], denied: 404 },
        { anyOf: ['AUTHORIZATION.DELETE path:id'], denied: 403 },
      ],
      notFound: '404 InvalidRequestException: Authorization with id {id} does not exist.',
      changes: ['records'],
      loads: 'authorization',
    },
    availableOperationsAuthorizationInstance: {
      route: 'OPTIONS /authorization/:id',
      checks: [],
      links: { delete: 'AUTHORIZATION.DELETE path:id', update: 'AUTHORIZATION.UPDATE path:id' },
    },
    isUserAuthorized: {
      route: 'GET /authorization/check',
      query: 'AuthorizationCheckQuery',
      checks: [{ anyOf: ['AUTHORIZATION.READ'], when: 'query:userId is another user', denied: 'absent' }],
      handler: 'authorization check',
      notFound: '403 InvalidRequestException: You must have READ permission for Authorization resource.',
    },
    createAuthorization: {
      route: 'POST /authorization/create',
      auditedChange: { action: 'create', authorization: 'answer:id' },
      creates: 'answer:id',
      body: 'AuthorizationCreateDto',
      checks: [
        { name: 'create', anyOf: ['AUTHORIZATION.CREATE'], denied: 403 },
        { anyOf: ['AUTHORIZATION.READ created.id'], denied: 404, notFound: '404 InvalidRequestException: Authorization with id {created} does not exist.' },
      ],
      changes: ['records'],
    },
  },
] satisfies Tag
