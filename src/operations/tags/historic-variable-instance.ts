import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Variable Instance: 7 operations of the published API. */
export const historicVariableInstance = [
  listOperations({
    path: '/history/variable-instance',
    operations: {
      GET: 'getHistoricVariableInstances',
      POST: 'queryHistoricVariableInstances',
      'GET count': 'getHistoricVariableInstancesCount',
      'POST count': 'queryHistoricVariableInstancesCount',
    },
    items: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY item:processDefinitionKey'],
      reads: 'variables',
      exempt: 'no execution',
      prefilter: 'historicVariableInstances',
    },
  }),
  {
    getHistoricVariableInstance: {
      route: 'GET /history/variable-instance/:id',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicVariableInstance.processDefinitionKey'], reads: 'variables', denied: 404, foundBy: 'query', exempt: 'no execution' },
      ],
      notFound: "404 InvalidRequestException: Historic variable instance with Id '{id}' does not exist.",
    },
    deleteHistoricVariableInstance: {
      route: 'DELETE /history/variable-instance/:id',
      body: 'none',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.DELETE_HISTORY historicVariableInstance.processDefinitionKey'], denied: 403 },
      ],
      notFound: '404 InvalidRequestException 0: No historic variable instance found with id: {id}: variable is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete the historic variable instance '{id}' because it belongs to no authenticated tenant.",
    },
    getHistoricVariableInstanceBinary: {
      route: 'GET /history/variable-instance/:id/data',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicVariableInstance.processDefinitionKey'], reads: 'variables', denied: 404, foundBy: 'query', exempt: 'no execution' },
      ],
      notFound: "404 InvalidRequestException: Historic variable instance with Id '{id}' does not exist.",
    },
  },
] satisfies Tag
