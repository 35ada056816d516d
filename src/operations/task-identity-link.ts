import type { Rowset } from './table.ts'

/** Task Identity Link: 3 operations of the published API, sorted by path, then method. */
export const taskIdentityLink = {
  getIdentityLinks: {
    route: 'GET /task/:id/identity-links',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
    absent: '500 NullValueException 0: Cannot find task with id {id}: task is null',
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
    absent: '400 NotFoundException 0: Cannot find task with id {id}: task is null',
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
    absent: '500 NullValueException 0: Cannot find task with id {id}: task is null',
  },
} as const satisfies Rowset
