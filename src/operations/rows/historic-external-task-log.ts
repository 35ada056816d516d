import type { Rowset } from '../table.ts'

/** Historic External Task Log: 6 operations of the published API, sorted by path, then method. */
export const historicExternalTaskLog = {
  getHistoricExternalTaskLogs: {
    route: 'GET /history/external-task-log',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      query: 'historicExternalTaskLogs',
    },
  },
  queryHistoricExternalTaskLogs: {
    route: 'POST /history/external-task-log',
    body: 'HistoricExternalTaskLogQueryDto',
    query: 'Paging',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      query: 'historicExternalTaskLogs',
    },
  },
  getHistoricExternalTaskLog: {
    route: 'GET /history/external-task-log/:id',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicExternalTaskLog.processDefinitionKey'], denied: 404, viaQuery: 'query' },
    ],
    notFound: '404 InvalidRequestException: Historic external task log with id {id} does not exist',
  },
  getErrorDetailsHistoricExternalTaskLog: {
    route: 'GET /history/external-task-log/:id/error-details',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicExternalTaskLog.processDefinitionKey'], denied: 403 },
    ],
    notFound: '404 InvalidRequestException: No historic external task log found with id {id}: historicExternalTaskLog is null',
    otherTenant: "404 InvalidRequestException: ENGINE-13034 Cannot get the historic external task log '{id}' because it belongs to no authenticated tenant.",
  },
  getHistoricExternalTaskLogsCount: {
    route: 'GET /history/external-task-log/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      query: 'historicExternalTaskLogs',
    },
  },
  queryHistoricExternalTaskLogsCount: {
    route: 'POST /history/external-task-log/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      query: 'historicExternalTaskLogs',
    },
  },
} satisfies Rowset
