import type { Rowset } from './table.ts'

/** Task Identity Link: 3 operations of the published API, sorted by path, then method. */
export const taskIdentityLink = {
  getIdentityLinks: {
    route: 'GET /task/:id/identity-links',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
  },
  addIdentityLink: {
    route: 'POST /task/:id/identity-links',
    checks: [
      { anyOf: [
        'TASK.TASK_ASSIGN path:id',
        'PROCESS_DEFINITION.TASK_ASSIGN task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  deleteIdentityLink: {
    route: 'POST /task/:id/identity-links/delete',
    checks: [
      { anyOf: [
        'TASK.TASK_ASSIGN path:id',
        'PROCESS_DEFINITION.TASK_ASSIGN task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
  },
} as const satisfies Rowset
