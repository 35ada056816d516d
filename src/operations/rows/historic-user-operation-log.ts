import type { Rowset } from '../table.ts'

/** Historic User Operation Log: 4 operations of the published API, sorted by path, then method. */
export const historicUserOperationLog = {
  queryUserOperationEntries: {
    route: 'GET /history/user-operation',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey',
        'OPERATION_LOG_CATEGORY.READ row:category',
      ],
      exempt: 'no category and no definition',
    },
  },
  clearAnnotationUserOperationLog: {
    route: 'PUT /history/user-operation/:operationId/clear-annotation',
    media: 'none',
    checks: [
      { anyOf: [
        'PROCESS_DEFINITION.UPDATE_HISTORY operationLogEntry(path:operationId).processDefinitionKey',
        'OPERATION_LOG_CATEGORY.UPDATE operationLogEntry(path:operationId).category',
      ], denied: 403 },
    ],
    notFound: '400 BadUserRequestException 0: operation is null',
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the user operation log entry '{operationLogEntry(path:operationId).id}' because it belongs to no authenticated tenant.",
  },
  setAnnotationUserOperationLog: {
    route: 'PUT /history/user-operation/:operationId/set-annotation',
    checks: [
      { anyOf: [
        'PROCESS_DEFINITION.UPDATE_HISTORY operationLogEntry(path:operationId).processDefinitionKey',
        'OPERATION_LOG_CATEGORY.UPDATE operationLogEntry(path:operationId).category',
      ], denied: 403 },
    ],
    notFound: '400 BadUserRequestException 0: operation is null',
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the user operation log entry '{operationLogEntry(path:operationId).id}' because it belongs to no authenticated tenant.",
  },
  queryUserOperationCount: {
    route: 'GET /history/user-operation/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: [
        'PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey',
        'OPERATION_LOG_CATEGORY.READ row:category',
      ],
      exempt: 'no category and no definition',
    },
  },
} satisfies Rowset
