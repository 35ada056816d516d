import type { Rowset } from './table.ts'

/** Task Local Variable: 7 operations of the published API, sorted by path, then method. */
export const taskLocalVariable = {
  getTaskLocalVariables: {
    route: 'GET /task/:id/localVariables',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
  },
  modifyTaskLocalVariables: {
    route: 'POST /task/:id/localVariables',
    checks: [
      { anyOf: [
        'TASK.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK_VARIABLE task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getTaskLocalVariable: {
    route: 'GET /task/:id/localVariables/:varName',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
  },
  putTaskLocalVariable: {
    route: 'PUT /task/:id/localVariables/:varName',
    checks: [
      { anyOf: [
        'TASK.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK_VARIABLE task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  deleteTaskLocalVariable: {
    route: 'DELETE /task/:id/localVariables/:varName',
    checks: [
      { anyOf: [
        'TASK.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK_VARIABLE task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getTaskLocalVariableBinary: {
    route: 'GET /task/:id/localVariables/:varName/data',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
  },
  setBinaryTaskLocalVariable: {
    route: 'POST /task/:id/localVariables/:varName/data',
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
