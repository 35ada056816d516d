import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Task Instance: 5 operations of the published API. */
export const historicTaskInstance = [
  listOperations({
    path: '/history/task',
    operations: {
      GET: 'getHistoricTaskInstances',
      POST: 'queryHistoricTaskInstances',
      'GET count': 'getHistoricTaskInstancesCount',
      'POST count': 'queryHistoricTaskInstancesCount',
    },
    items: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY item:processDefinitionKey'],
      exempt: 'no execution',
      prefilter: 'historicTasks',
    },
  }),
  {
    getHistoricTaskInstanceReport: {
      route: 'GET /history/task/report',
      checks: [{ anyOf: ['PROCESS_DEFINITION.READ_HISTORY *'], denied: 403 }],
      items: { form: 'report', anyOf: ['PROCESS_DEFINITION.READ_HISTORY *'] },
    },
  },
] satisfies Tag
