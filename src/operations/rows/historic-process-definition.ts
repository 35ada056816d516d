import type { Rowset } from '../table.ts'

/** Historic Process Definition: 3 operations of the published API, sorted by path, then method. */
export const historicProcessDefinition = {
  getHistoricActivityStatistics: {
    route: 'GET /history/process-definition/:id/statistics',
    query: 'ActivityStatisticsQuery',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ_HISTORY processDefinition.key'], denied: 'empty' }],
    notFound: '200 []',
    otherTenant: 'ignored',
  },
  getCleanableHistoricProcessInstanceReport: {
    route: 'GET /history/process-definition/cleanable-process-instance-report',
    checks: [],
    rows: { allOf: ['PROCESS_DEFINITION.READ row:key', 'PROCESS_DEFINITION.READ_HISTORY row:key'], oneRecord: true, query: 'cleanableProcessInstances' },
  },
  getCleanableHistoricProcessInstanceReportCount: {
    route: 'GET /history/process-definition/cleanable-process-instance-report/count',
    checks: [],
    rows: { form: 'count', allOf: ['PROCESS_DEFINITION.READ row:key', 'PROCESS_DEFINITION.READ_HISTORY row:key'], oneRecord: true, query: 'cleanableProcessInstances' },
  },
} satisfies Rowset
