import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Process Instance: 10 operations of the published API. */
export const historicProcessInstance = [
  listOperations({
    path: '/history/process-instance',
    operations: {
      GET: 'getHistoricProcessInstances',
      POST: 'queryHistoricProcessInstances',
      'GET count': 'getHistoricProcessInstancesCount',
      'POST count': 'queryHistoricProcessInstancesCount',
    },
    items: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY item:processDefinitionKey'],
      prefilter: 'historicProcessInstances',
    },
  }),
  {
    getHistoricProcessInstance: {
      route: 'GET /history/process-instance/:id',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicProcessInstance.processDefinitionKey'], denied: 404 },
      ],
      notFound: '404 InvalidRequestException: Historic process instance with id {id} does not exist',
    },
    deleteHistoricProcessInstance: {
      route: 'DELETE /history/process-instance/:id',
      body: 'none',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.DELETE_HISTORY historicProcessInstance.processDefinitionKey'], denied: 403 },
      ],
      notFound: '404 InvalidRequestException 0: Historic process instance with id {id} does not exist',
    },
    deleteHistoricVariableInstancesOfHistoricProcessInstance: {
      route: 'DELETE /history/process-instance/:id/variable-instances',
      body: 'none',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.DELETE_HISTORY historicProcessInstance.processDefinitionKey'], denied: 403 },
      ],
      notFound: '404 InvalidRequestException: No historic process instance found with id: {id}: instance is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete the historic variable instances of process instance '{id}' because it belongs to no authenticated tenant.",
    },
    deleteHistoricProcessInstancesAsync: {
      route: 'POST /history/process-instance/delete',
      creates: 'answer:id',
      checks: [
        { anyOf: ['BATCH.CREATE_BATCH_DELETE_FINISHED_PROCESS_INSTANCES', 'BATCH.CREATE'], denied: 403 },
      ],
      empty: '400 InvalidRequestException: historicProcessInstanceIds is empty',
      selectors: { historicProcessInstanceQuery: 'historicProcessInstanceIds' },
    },
    getHistoricProcessInstanceDurationReport: {
      route: 'GET /history/process-instance/report',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY each.id'], when: 'query:processDefinitionKeyIn given', each: 'query:processDefinitionKeyIn[]', denied: 403 },
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY processDefinition(each:id).key'], when: 'query:processDefinitionIdIn given', each: 'query:processDefinitionIdIn[]', denied: 403 },
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY *'], when: 'no definition given', denied: 403 },
      ],
      items: { form: 'report', anyOf: ['PROCESS_DEFINITION.READ_HISTORY *'], prefilter: 'definitions of the report' },
    },
    setRemovalTimeAsync: {
      route: 'POST /history/process-instance/set-removal-time',
      creates: 'answer:id',
      checks: [{ anyOf: ['BATCH.CREATE_BATCH_SET_REMOVAL_TIME', 'BATCH.CREATE'], denied: 403 }],
      empty: '400 BadUserRequestException 0: historicProcessInstances is empty',
      selectors: { historicProcessInstanceIds: 'queryHistoricProcessInstances(processInstanceIds[]).id', historicProcessInstanceQuery: 'historicProcessInstanceIds' },
    },
  },
] satisfies Tag
