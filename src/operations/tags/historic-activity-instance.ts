import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Activity Instance: 5 operations of the published API. */
export const historicActivityInstance = [
  listOperations({
    path: '/history/activity-instance',
    operations: {
      GET: 'getHistoricActivityInstances',
      POST: 'queryHistoricActivityInstances',
      'GET count': 'getHistoricActivityInstancesCount',
      'POST count': 'queryHistoricActivityInstancesCount',
    },
    items: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY item:processDefinitionKey'],
      prefilter: 'historicActivityInstances',
    },
  }),
  {
    getHistoricActivityInstance: {
      route: 'GET /history/activity-instance/:id',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicActivityInstance.processDefinitionKey'], denied: 404, foundBy: 'query' },
      ],
      notFound: "404 InvalidRequestException: Historic activity instance with id '{id}' does not exist",
    },
  },
] satisfies Tag
