import type { Rowset } from '../table.ts'

/** Historic Variable Instance: 7 operations of the published API, sorted by path, then method. */
export const historicVariableInstance = {
  getHistoricVariableInstances: {
    route: 'GET /history/variable-instance',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      reads: 'variables',
      exempt: 'no execution',
      query: 'historicVariableInstances',
    },
  },
  queryHistoricVariableInstances: {
    route: 'POST /history/variable-instance',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      reads: 'variables',
      exempt: 'no execution',
      query: 'historicVariableInstances',
    },
  },
  getHistoricVariableInstance: {
    route: 'GET /history/variable-instance/:id',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicVariableInstance.processDefinitionKey'], reads: 'variables', denied: 404, viaQuery: 'query', exempt: 'no execution' },
    ],
    notFound: "404 InvalidRequestException: Historic variable instance with Id '{id}' does not exist.",
  },
  deleteHistoricVariableInstance: {
    route: 'DELETE /history/variable-instance/:id',
    media: 'none',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.DELETE_HISTORY historicVariableInstance.processDefinitionKey'], denied: 403 },
    ],
    notFound: '404 InvalidRequestException 0: No historic variable instance found with id: {id}: variable is null',
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete the historic variable instance '{id}' because it belongs to no authenticated tenant.",
  },
  getHistoricVariableInstanceBinary: {
    route: 'GET /history/variable-instance/:id/data',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicVariableInstance.processDefinitionKey'], reads: 'variables', denied: 404, viaQuery: 'query', exempt: 'no execution' },
    ],
    notFound: "404 InvalidRequestException: Historic variable instance with Id '{id}' does not exist.",
  },
  getHistoricVariableInstancesCount: {
    route: 'GET /history/variable-instance/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      reads: 'variables',
      exempt: 'no execution',
      query: 'historicVariableInstances',
    },
  },
  queryHistoricVariableInstancesCount: {
    route: 'POST /history/variable-instance/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      reads: 'variables',
      exempt: 'no execution',
      query: 'historicVariableInstances',
    },
  },
} satisfies Rowset
