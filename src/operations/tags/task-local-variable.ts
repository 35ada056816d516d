import type { TagOperations } from '../table.ts'

/** Task Local Variable: 7 operations of the published API. */
export const taskLocalVariable = {
  getTaskLocalVariables: {
    route: 'GET /task/:id/localVariables',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], reads: 'variables', denied: 403 },
    ],
    notFound: "500 NullValueException 0: task {id} doesn't exist: task is null",
    crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot read the task '{id}' because it belongs to no authenticated tenant.",
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
    notFound: "500 RestException 0: Cannot modify variables for task {id}: task {id} doesn't exist: task is null",
    crossTenant: "500 RestException 0: Cannot modify variables for task {id}: ENGINE-13034 Cannot update the task '{id}' because it belongs to no authenticated tenant.",
  },
  getTaskLocalVariable: {
    route: 'GET /task/:id/localVariables/:varName',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], reads: 'variables', denied: 403 },
    ],
    notFound: "500 RestException 0: Cannot get task variable {varName}: task {id} doesn't exist: task is null",
    crossTenant: "500 RestException 0: Cannot get task variable {varName}: ENGINE-13034 Cannot read the task '{id}' because it belongs to no authenticated tenant.",
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
    notFound: "500 RestException 0: Cannot put task variable {varName}: task {id} doesn't exist: task is null",
    crossTenant: "500 RestException 0: Cannot put task variable {varName}: ENGINE-13034 Cannot update the task '{id}' because it belongs to no authenticated tenant.",
  },
  deleteTaskLocalVariable: {
    route: 'DELETE /task/:id/localVariables/:varName',
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
  getTaskLocalVariableBinary: {
    route: 'GET /task/:id/localVariables/:varName/data',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], reads: 'variables', denied: 403 },
    ],
    notFound: "500 RestException 0: Cannot get task variable {varName}: task {id} doesn't exist: task is null",
    crossTenant: "500 RestException 0: Cannot get task variable {varName}: ENGINE-13034 Cannot read the task '{id}' because it belongs to no authenticated tenant.",
  },
  setBinaryTaskLocalVariable: {
    route: 'POST /task/:id/localVariables/:varName/data',
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
