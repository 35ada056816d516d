import type { Rowset } from '../table.ts'

/** Historic Job Log: 6 operations of the published API, sorted by path, then method. */
export const historicJobLog = {
  getHistoricJobLogs: {
    route: 'GET /history/job-log',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no definition',
      query: 'historicJobLogs',
    },
  },
  queryHistoricJobLogs: {
    route: 'POST /history/job-log',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no definition',
      query: 'historicJobLogs',
    },
  },
  getHistoricJobLog: {
    route: 'GET /history/job-log/:id',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicJobLog.processDefinitionKey'], denied: 404, viaQuery: 'query', exempt: 'no definition' },
    ],
    notFound: '404 InvalidRequestException: Historic job log with id {id} does not exist',
  },
  getStacktraceHistoricJobLog: {
    route: 'GET /history/job-log/:id/stacktrace',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicJobLog.processDefinitionKey'], denied: 403 },
    ],
    notFound: '404 InvalidRequestException: No historic job log found with id {id}: historicJobLog is null',
    otherTenant: "404 InvalidRequestException: ENGINE-13034 Cannot get the historic job log '{id}' because it belongs to no authenticated tenant.",
  },
  getHistoricJobLogsCount: {
    route: 'GET /history/job-log/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no definition',
      query: 'historicJobLogs',
    },
  },
  queryHistoricJobLogsCount: {
    route: 'POST /history/job-log/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no definition',
      query: 'historicJobLogs',
    },
  },
} satisfies Rowset
