import type { Rowset } from './table.ts'

/** Task Variable: 7 operations of the published API, sorted by path, then method. */
export const taskVariable = {
  getTaskVariables: {
    route: 'GET /task/:id/variables',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
    absent: "500 NullValueException 0: task {id} doesn't exist: task is null",
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
    absent: "500 RestException 0: Cannot modify variables for task {id}: task {id} doesn't exist: task is null",
  },
  getTaskVariable: {
    route: 'GET /task/:id/variables/:varName',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
    absent: "500 RestException 0: Cannot get task variable {varName}: task {id} doesn't exist: task is null",
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
    absent: "500 RestException 0: Cannot put task variable {varName}: task {id} doesn't exist: task is null",
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
    absent: '500 RestException 0: Cannot delete task variable {varName}: Cannot find task with id {id}: task is null',
  },
  getTaskVariableBinary: {
    route: 'GET /task/:id/variables/:varName/data',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
    absent: "500 RestException 0: Cannot get task variable {varName}: task {id} doesn't exist: task is null",
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
    absent: "500 RestException 0: Cannot put task variable {varName}: task {id} doesn't exist: task is null",
  },
} as const satisfies Rowset
