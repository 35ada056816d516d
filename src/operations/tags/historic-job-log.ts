import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Job Log: 6 operations of the published API. */
export const historicJobLog = [
  listOperations({
    path: '/history/job-log',
    operations: {
      GET: 'getHistoricJobLogs',
      POST: 'queryHistoricJobLogs',
      'GET count': 'getHistoricJobLogsCount',
      'POST count': 'queryHistoricJobLogsCount',
    },
    items: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY item:processDefinitionKey'],
      exempt: 'no definition',
      prefilter: 'historicJobLogs',
    },
  }),
  {
    getHistoricJobLog: {
      route: 'GET /history/job-log/:id',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicJobLog.processDefinitionKey'], denied: 404, foundBy: 'query', exempt: 'no definition' },
      ],
      notFound: '404 InvalidRequestException: Historic job log with id {id} does not exist',
    },
    getStacktraceHistoricJobLog: {
      route: 'GET /history/job-log/:id/stacktrace',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicJobLog.processDefinitionKey'], denied: 403 },
      ],
      notFound: '404 InvalidRequestException: No historic job log found with id {id}: historicJobLog is null',
      crossTenant: "404 InvalidRequestException: ENGINE-13034 Cannot get the historic job log '{id}' because it belongs to no authenticated tenant.",
    },
  },
] satisfies Tag
