import type { Rowset } from './table.ts'

/** Task Variable: 7 operations of the published API, sorted by path, then method. */
export const taskVariable = {
  getTaskVariables: {
    route: 'GET /task/:id/variables',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
  },
  modifyTaskVariables: {
    route: 'POST /task/:id/variables',
    checks: [
      { anyOf: [
        'TASK.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK_VARIABLE task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getTaskVariable: {
    route: 'GET /task/:id/variables/:varName',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
  },
  putTaskVariable: {
    route: 'PUT /task/:id/variables/:varName',
    checks: [
      { anyOf: [
        'TASK.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK_VARIABLE task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  deleteTaskVariable: {
    route: 'DELETE /task/:id/variables/:varName',
    checks: [
      { anyOf: [
        'TASK.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK_VARIABLE task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getTaskVariableBinary: {
    route: 'GET /task/:id/variables/:varName/data',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
  },
  setBinaryTaskVariable: {
    route: 'POST /task/:id/variables/:varName/data',
    media: 'multipart',
    checks: [
      { anyOf: [
        'TASK.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK_VARIABLE task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
  },
} as const satisfies Rowset
