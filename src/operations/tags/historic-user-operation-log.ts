import { listOperations } from '../list-operations.ts'
import type { OperationEntry, Tag } from '../table.ts'

/** The check of both changes of an annotation, and its responses. */
const ANNOTATE = {
  checks: [
    { anyOf: [
      'PROCESS_DEFINITION.UPDATE_HISTORY operationLogEntry(path:operationId).processDefinitionKey',
      'OPERATION_LOG_CATEGORY.UPDATE operationLogEntry(path:operationId).category',
    ], denied: 403 },
  ],
  notFound: '400 BadUserRequestException 0: operation is null',
  crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the user operation log entry '{operationLogEntry(path:operationId).id}' because it belongs to no authenticated tenant.",
} as const satisfies Partial<OperationEntry>

/** Historic User Operation Log: 4 operations of the published API. */
export const historicUserOperationLog = [
  listOperations({
    path: '/history/user-operation',
    operations: {
      GET: 'queryUserOperationEntries',
      'GET count': 'queryUserOperationCount',
    },
    items: {
      anyOf: [
        'PROCESS_DEFINITION.READ_HISTORY item:processDefinitionKey',
        'OPERATION_LOG_CATEGORY.READ item:category',
      ],
      exempt: 'no category and no definition',
    },
  }),
  {
    clearAnnotationUserOperationLog: {
      route: 'PUT /history/user-operation/:operationId/clear-annotation',
      body: 'none',
      ...ANNOTATE,
    },
    setAnnotationUserOperationLog: {
      route: 'PUT /history/user-operation/:operationId/set-annotation',
      ...ANNOTATE,
    },
  },
] satisfies Tag
