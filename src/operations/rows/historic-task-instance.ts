import type { Rowset } from '../table.ts'

/** Historic Task Instance: 5 operations of the published API, sorted by path, then method. */
export const historicTaskInstance = {
  getHistoricTaskInstances: {
    route: 'GET /history/task',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no execution',
      query: 'historicTasks',
    },
  },
  queryHistoricTaskInstances: {
    route: 'POST /history/task',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no execution',
      query: 'historicTasks',
    },
  },
  getHistoricTaskInstancesCount: {
    route: 'GET /history/task/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no execution',
      query: 'historicTasks',
    },
  },
  queryHistoricTaskInstancesCount: {
    route: 'POST /history/task/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no execution',
      query: 'historicTasks',
    },
  },
  getHistoricTaskInstanceReport: {
    route: 'GET /history/task/report',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ_HISTORY *'], denied: 403 }],
    rows: { form: 'report', anyOf: ['PROCESS_DEFINITION.READ_HISTORY *'] },
  },
} satisfies Rowset
