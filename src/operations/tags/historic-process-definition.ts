import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Process Definition: 3 operations of the published API. */
export const historicProcessDefinition = [
  {
    getHistoricActivityStatistics: {
      route: 'GET /history/process-definition/:id/statistics',
      query: 'ActivityStatisticsQuery',
      checks: [{ anyOf: ['PROCESS_DEFINITION.READ_HISTORY processDefinition.key'], denied: 'empty' }],
      notFound: '200 []',
      crossTenant: 'ignored',
    },
  },
  listOperations({
    path: '/history/process-definition/cleanable-process-instance-report',
    operations: {
      GET: 'getCleanableHistoricProcessInstanceReport',
      'GET count': 'getCleanableHistoricProcessInstanceReportCount',
    },
    items: { allOf: ['PROCESS_DEFINITION.READ item:key', 'PROCESS_DEFINITION.READ_HISTORY item:key'], prefilter: 'cleanableProcessInstances' },
  }),
] satisfies Tag
