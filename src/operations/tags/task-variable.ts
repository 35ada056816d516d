import type { TagOperations } from '../table.ts'

/** Task Variable: 7 operations of the published API. */
export const taskVariable = {
  getTaskVariables: {
    route: 'GET /task/:id/variables',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], reads: 'variables', denied: 403 },
    ],
    notFound: "500 NullValueException 0: task {id} doesn't exist: task is null",
    crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot read the task '{id}' because it belongs to no authenticated tenant.",
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
    notFound: "500 RestException 0: Cannot modify variables for task {id}: task {id} doesn't exist: task is null",
    crossTenant: "500 RestException 0: Cannot modify variables for task {id}: ENGINE-13034 Cannot update the task '{id}' because it belongs to no authenticated tenant.",
  },
  getTaskVariable: {
    route: 'GET /task/:id/variables/:varName',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], reads: 'variables', denied: 403 },
    ],
    notFound: "500 RestException 0: Cannot get task variable {varName}: task {id} doesn't exist: task is null",
    crossTenant: "500 RestException 0: Cannot get task variable {varName}: ENGINE-13034 Cannot read the task '{id}' because it belongs to no authenticated tenant.",
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
    notFound: "500 RestException 0: Cannot put task variable {varName}: task {id} doesn't exist: task is null",
    crossTenant: "500 RestException 0: Cannot put task variable {varName}: ENGINE-13034 Cannot update the task '{id}' because it belongs to no authenticated tenant.",
  },
  deleteTaskVariable: {
    route: 'DELETE /task/:id/variables/:varName',
    body: 'none',
    checks: [
      { anyOf: [
        'TASK.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK_VARIABLE task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    notFound: '500 RestException 0: Cannot delete task variable {varName}: Cannot find task with id {id}: task is null',
    crossTenant: "500 RestException 0: Cannot delete task variable {varName}: ENGINE-13034 Cannot update the task '{id}' because it belongs to no authenticated tenant.",
  },
  getTaskVariableBinary: {
    route: 'GET /task/:id/variables/:varName/data',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], reads: 'variables', denied: 403 },
    ],
    notFound: "500 RestException 0: Cannot get task variable {varName}: task {id} doesn't exist: task is null",
    crossTenant: "500 RestException 0: Cannot get task variable {varName}: ENGINE-13034 Cannot read the task '{id}' because it belongs to no authenticated tenant.",
  },
  setBinaryTaskVariable: {
    route: 'POST /task/:id/variables/:varName/data',
    body: 'multipart',
    checks: [
      { anyOf: [
        'TASK.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK_VARIABLE task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    notFound: "500 RestException 0: Cannot put task variable {varName}: task {id} doesn't exist: task is null",
    crossTenant: "500 RestException 0: Cannot put task variable {varName}: ENGINE-13034 Cannot update the task '{id}' because it belongs to no authenticated tenant.",
  },
} satisfies TagOperations
