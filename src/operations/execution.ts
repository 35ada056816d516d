import type { Rowset } from './table.ts'

/** Execution: 16 operations of the published API, sorted by path, then method. */
export const execution = {
  getExecutions: {
    route: 'GET /execution',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
  },
  queryExecutions: {
    route: 'POST /execution',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
  },
  getExecution: {
    route: 'GET /execution/:id',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ execution.processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey',
      ], denied: 404 },
    ],
    retry: 'always',
  },
  createIncident: {
    route: 'POST /execution/:id/create-incident',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
        'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getLocalExecutionVariables: {
    route: 'GET /execution/:id/localVariables',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ execution.processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey',
      ], denied: 403 },
    ],
    retry: 'always',
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
  },
  getLocalExecutionVariable: {
    route: 'GET /execution/:id/localVariables/:varName',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ execution.processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey',
      ], denied: 403 },
    ],
    retry: 'always',
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
  },
  deleteLocalExecutionVariable: {
    route: 'DELETE /execution/:id/localVariables/:varName',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE_VARIABLE execution.processInstanceId',
        'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE execution.processDefinitionKey',
        'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
        'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getLocalExecutionVariableBinary: {
    route: 'GET /execution/:id/localVariables/:varName/data',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ execution.processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey',
      ], denied: 403 },
    ],
    retry: 'always',
  },
  setLocalExecutionVariableBinary: {
    route: 'POST /execution/:id/localVariables/:varName/data',
    media: 'multipart',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE_VARIABLE execution.processInstanceId',
        'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE execution.processDefinitionKey',
        'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
        'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getMessageEventSubscription: {
    route: 'GET /execution/:id/messageSubscriptions/:messageName',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ execution.processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey',
      ], denied: 404 },
    ],
    retry: 'always',
  },
  triggerEvent: {
    route: 'POST /execution/:id/messageSubscriptions/:messageName/trigger',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
        'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  signalExecution: {
    route: 'POST /execution/:id/signal',
    body: 'ExecutionTriggerDto',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
        'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getExecutionsCount: {
    route: 'GET /execution/count',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
  },
  queryExecutionsCount: {
    route: 'POST /execution/count',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
  },
} as const satisfies Rowset
