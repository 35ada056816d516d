import { listOperations } from '../list-operations.ts'
import { instancePermissions } from '../common-permissions.ts'
import type { Tag } from '../table.ts'
import { variableOperations } from '../variable-operations.ts'

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
      anyOf: instancePermissions('READ', 'item'),
      prefilter: 'executions',
    },
  }),
  {
    getExecution: {
      route: 'GET /execution/:id',
      checks: [{ anyOf: instancePermissions('READ', 'execution'), denied: 404, foundBy: 'query' }],
      notFound: '404 InvalidRequestException: Execution with id {id} does not exist',
    },
    createIncident: {
      route: 'POST /execution/:id/create-incident',
      creates: 'answer:id',
      checks: [{ anyOf: instancePermissions('UPDATE', 'execution'), denied: 403 }],
      notFound: "400 InvalidRequestException: Cannot find an execution with executionId '{id}': execution is null",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    getMessageEventSubscription: {
      route: 'GET /execution/:id/messageSubscriptions/:messageName',
      checks: [{ anyOf: instancePermissions('READ', 'execution'), denied: 404, foundBy: 'query' }],
      notFound: '404 InvalidRequestException: Message event subscription for execution {id} named {messageName} does not exist',
    },
    triggerEvent: {
      route: 'POST /execution/:id/messageSubscriptions/:messageName/trigger',
      checks: [{ anyOf: instancePermissions('UPDATE', 'execution'), denied: 403 }],
      notFound: "500 RestException 0: Cannot trigger message {messageName} for execution {id}: Execution with id '{id}' does not have a subscription to a message event with name '{messageName}': eventSubscriptions is empty",
      loads: 'messageSubscription',
    },
    signalExecution: {
      route: 'POST /execution/:id/signal',
      idempotencyKey: true,
      body: 'ExecutionTriggerDto',
      checks: [{ anyOf: instancePermissions('UPDATE', 'execution'), denied: 403 }],
      notFound: "500 RestException 0: Cannot signal execution {id}: execution {id} doesn't exist: execution is null",
      crossTenant: "500 RestException 0: Cannot signal execution {id}: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
    },
  },
  variableOperations({
    path: '/execution/:id/localVariables',
    entity: 'execution',
    operations: {
      list: 'getLocalExecutionVariables',
      modify: 'modifyLocalExecutionVariables',
      get: 'getLocalExecutionVariable',
      put: 'putLocalExecutionVariable',
      remove: 'deleteLocalExecutionVariable',
      getData: 'getLocalExecutionVariableBinary',
      postData: 'setLocalExecutionVariableBinary',
    },
  }),
] satisfies Tag
