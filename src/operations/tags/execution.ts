import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Execution: 16 operations of the published API. */
export const execution = [
  listOperations({
    path: '/execution',
    operations: {
      GET: 'getExecutions',
      POST: 'queryExecutions',
      'GET count': 'getExecutionsCount',
      'POST count': 'queryExecutionsCount',
    },
    items: {
      anyOf: [
        'PROCESS_INSTANCE.READ item:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE item:processDefinitionKey',
      ],
      prefilter: 'executions',
    },
  }),
  {
    getExecution: {
      route: 'GET /execution/:id',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.READ execution.processInstanceId',
          'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey',
        ], denied: 404, foundBy: 'query' },
      ],
      notFound: '404 InvalidRequestException: Execution with id {id} does not exist',
    },
    createIncident: {
      route: 'POST /execution/:id/create-incident',
      creates: 'answer:id',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
        ], denied: 403 },
      ],
      notFound: "400 InvalidRequestException: Cannot find an execution with executionId '{id}': execution is null",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    getLocalExecutionVariables: {
      route: 'GET /execution/:id/localVariables',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.READ execution.processInstanceId',
          'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey',
        ], reads: 'variables', denied: 403 },
      ],
      notFound: "500 NullValueException 0: execution {id} doesn't exist: execution is null",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot read the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    modifyLocalExecutionVariables: {
      route: 'POST /execution/:id/localVariables',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE_VARIABLE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE execution.processDefinitionKey',
          'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
        ], denied: 403 },
      ],
      notFound: "500 RestException 0: Cannot modify variables for execution {id}: execution {id} doesn't exist: execution is null",
      crossTenant: "500 RestException 0: Cannot modify variables for execution {id}: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    getLocalExecutionVariable: {
      route: 'GET /execution/:id/localVariables/:varName',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.READ execution.processInstanceId',
          'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey',
        ], reads: 'variables', denied: 403 },
      ],
      notFound: "500 RestException 0: Cannot get execution variable {varName}: execution {id} doesn't exist: execution is null",
      crossTenant: "500 RestException 0: Cannot get execution variable {varName}: ENGINE-13034 Cannot read the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    putLocalExecutionVariable: {
      route: 'PUT /execution/:id/localVariables/:varName',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE_VARIABLE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE execution.processDefinitionKey',
          'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
        ], denied: 403 },
      ],
      notFound: "500 RestException 0: Cannot put execution variable {varName}: execution {id} doesn't exist: execution is null",
      crossTenant: "500 RestException 0: Cannot put execution variable {varName}: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    deleteLocalExecutionVariable: {
      route: 'DELETE /execution/:id/localVariables/:varName',
      body: 'none',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE_VARIABLE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE execution.processDefinitionKey',
          'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
        ], denied: 403 },
      ],
      notFound: "500 RestException 0: Cannot delete execution variable {varName}: execution {id} doesn't exist: execution is null",
      crossTenant: "500 RestException 0: Cannot delete execution variable {varName}: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    getLocalExecutionVariableBinary: {
      route: 'GET /execution/:id/localVariables/:varName/data',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.READ execution.processInstanceId',
          'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey',
        ], reads: 'variables', denied: 403 },
      ],
      notFound: "500 RestException 0: Cannot get execution variable {varName}: execution {id} doesn't exist: execution is null",
      crossTenant: "500 RestException 0: Cannot get execution variable {varName}: ENGINE-13034 Cannot read the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    setLocalExecutionVariableBinary: {
      route: 'POST /execution/:id/localVariables/:varName/data',
      body: 'multipart',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE_VARIABLE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE execution.processDefinitionKey',
          'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
        ], denied: 403 },
      ],
      notFound: "500 RestException 0: Cannot put execution variable {varName}: execution {id} doesn't exist: execution is null",
      crossTenant: "500 RestException 0: Cannot put execution variable {varName}: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    getMessageEventSubscription: {
      route: 'GET /execution/:id/messageSubscriptions/:messageName',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.READ execution.processInstanceId',
          'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey',
        ], denied: 404, foundBy: 'query' },
      ],
      notFound: '404 InvalidRequestException: Message event subscription for execution {id} named {messageName} does not exist',
    },
    triggerEvent: {
      route: 'POST /execution/:id/messageSubscriptions/:messageName/trigger',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
        ], denied: 403 },
      ],
      notFound: "500 RestException 0: Cannot trigger message {messageName} for execution {id}: Execution with id '{id}' does not have a subscription to a message event with name '{messageName}': eventSubscriptions is empty",
      loads: 'messageSubscription',
    },
    signalExecution: {
      route: 'POST /execution/:id/signal',
      idempotencyKey: true,
      body: 'ExecutionTriggerDto',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
        ], denied: 403 },
      ],
      notFound: "500 RestException 0: Cannot signal execution {id}: execution {id} doesn't exist: execution is null",
      crossTenant: "500 RestException 0: Cannot signal execution {id}: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
    },
  },
] satisfies Tag
