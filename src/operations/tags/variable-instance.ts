import { listOperations } from '../list-operations.ts'
import type { OperationEntry, Tag } from '../table.ts'

/** The check of both reads of one variable instance, and its response. */
const READ = {
  checks: [
    { anyOf: [
      'PROCESS_INSTANCE.READ variableInstance.processInstanceId',
      'PROCESS_DEFINITION.READ_INSTANCE variableInstance.processDefinitionKey',
      'TASK.READ variableInstance.taskId',
    ], reads: 'variables', denied: 404, foundBy: 'query', exempt: 'case' },
  ],
  notFound: "404 InvalidRequestException: Variable instance with Id '{id}' does not exist.",
} as const satisfies Partial<OperationEntry>

/** Variable Instance: 6 operations of the published API. */
export const variableInstance = [
  listOperations({
    path: '/variable-instance',
    operations: {
      GET: 'getVariableInstances',
      POST: 'queryVariableInstances',
      'GET count': 'getVariableInstancesCount',
      'POST count': 'queryVariableInstancesCount',
    },
    items: {
      anyOf: [
        'PROCESS_INSTANCE.READ item:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE item:processDefinitionKey',
        'TASK.READ item:taskId',
      ],
      reads: 'variables',
      exempt: 'case',
      prefilter: 'variableInstances',
    },
  }),
  {
    getVariableInstance: {
      route: 'GET /variable-instance/:id',
      ...READ,
    },
    getVariableInstanceBinary: {
      route: 'GET /variable-instance/:id/data',
      ...READ,
    },
  },
] satisfies Tag
