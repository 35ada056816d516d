import type { Rowset } from '../table.ts'

/** Historic Activity Instance: 5 operations of the published API, sorted by path, then method. */
export const historicActivityInstance = {
  getHistoricActivityInstances: {
    route: 'GET /history/activity-instance',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      query: 'historicActivityInstances',
    },
  },
  queryHistoricActivityInstances: {
    route: 'POST /history/activity-instance',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      query: 'historicActivityInstances',
    },
  },
  getHistoricActivityInstance: {
    route: 'GET /history/activity-instance/:id',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicActivityInstance.processDefinitionKey'], denied: 404, viaQuery: 'query' },
    ],
    notFound: "404 InvalidRequestException: Historic activity instance with id '{id}' does not exist",
  },
  getHistoricActivityInstancesCount: {
    route: 'GET /history/activity-instance/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      query: 'historicActivityInstances',
    },
  },
  queryHistoricActivityInstancesCount: {
    route: 'POST /history/activity-instance/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      query: 'historicActivityInstances',
    },
  },
} satisfies Rowset
