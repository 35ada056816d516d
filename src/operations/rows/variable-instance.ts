import type { Rowset } from '../table.ts'

/** Variable Instance: 6 operations of the published API, sorted by path, then method. */
export const variableInstance = {
  getVariableInstances: {
    route: 'GET /variable-instance',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
        'TASK.READ row:taskId',
      ],
      reads: 'variables',
      exempt: 'case',
      query: 'variableInstances',
    },
  },
  queryVariableInstances: {
    route: 'POST /variable-instance',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
        'TASK.READ row:taskId',
      ],
      reads: 'variables',
      exempt: 'case',
      query: 'variableInstances',
    },
  },
  getVariableInstance: {
    route: 'GET /variable-instance/:id',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ variableInstance.processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE variableInstance.processDefinitionKey',
        'TASK.READ variableInstance.taskId',
      ], reads: 'variables', denied: 404, viaQuery: 'query', exempt: 'case' },
    ],
    notFound: "404 InvalidRequestException: Variable instance with Id '{id}' does not exist.",
  },
  getVariableInstanceBinary: {
    route: 'GET /variable-instance/:id/data',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ variableInstance.processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE variableInstance.processDefinitionKey',
        'TASK.READ variableInstance.taskId',
      ], reads: 'variables', denied: 404, viaQuery: 'query', exempt: 'case' },
    ],
    notFound: "404 InvalidRequestException: Variable instance with Id '{id}' does not exist.",
  },
  getVariableInstancesCount: {
    route: 'GET /variable-instance/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
        'TASK.READ row:taskId',
      ],
      reads: 'variables',
      exempt: 'case',
      query: 'variableInstances',
    },
  },
  queryVariableInstancesCount: {
    route: 'POST /variable-instance/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
        'TASK.READ row:taskId',
      ],
      reads: 'variables',
      exempt: 'case',
      query: 'variableInstances',
    },
  },
} satisfies Rowset
