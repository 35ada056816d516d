import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic External Task Log: 6 operations of the published API. */
export const historicExternalTaskLog = [
  listOperations({
    path: '/history/external-task-log',
    operations: {
      GET: 'getHistoricExternalTaskLogs',
      POST: { id: 'queryHistoricExternalTaskLogs', body: 'HistoricExternalTaskLogQueryDto' },
      'GET count': 'getHistoricExternalTaskLogsCount',
      'POST count': 'queryHistoricExternalTaskLogsCount',
    },
    items: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY item:processDefinitionKey'],
      prefilter: 'historicExternalTaskLogs',
    },
  }),
  {
    getHistoricExternalTaskLog: {
      route: 'GET /history/external-task-log/:id',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicExternalTaskLog.processDefinitionKey'], denied: 404, foundBy: 'query' },
      ],
      notFound: '404 InvalidRequestException: Historic external task log with id {id} does not exist',
    },
    getErrorDetailsHistoricExternalTaskLog: {
      route: 'GET /history/external-task-log/:id/error-details',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicExternalTaskLog.processDefinitionKey'], denied: 403 },
      ],
      notFound: '404 InvalidRequestException: No historic external task log found with id {id}: historicExternalTaskLog is null',
      crossTenant: "404 InvalidRequestException: ENGINE-13034 Cannot get the historic external task log '{id}' because it belongs to no authenticated tenant.",
    },
  },
] satisfies Tag
