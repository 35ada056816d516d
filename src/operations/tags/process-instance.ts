import { listOperations } from '../list-operations.ts'
import { instancePermissions } from '../common-permissions.ts'
import type { OperationEntry, Tag } from '../table.ts'
import { variableOperations } from '../variable-operations.ts'

/** A deletion by ids, by a query, or by a query of the history: the engine accepts all three by both operations. */
const DELETE_IN_BATCH = {
  creates: 'answer:id',
  checks: [{ anyOf: ['BATCH.CREATE_BATCH_DELETE_RUNNING_PROCESS_INSTANCES', 'BATCH.CREATE'], denied: 403 }],
  empty: '400 InvalidRequestException: processInstanceIds is empty',
  selectors: { processInstanceQuery: 'processInstanceIds', historicProcessInstanceQuery: 'processInstanceIds' },
} as const satisfies Partial<OperationEntry>

/** Sets the retries of the jobs of process instances: the engine accepts ids and both queries by both operations. */
const SET_RETRIES_IN_BATCH = {
  creates: 'answer:id',
  checks: [{ anyOf: ['BATCH.CREATE_BATCH_SET_JOB_RETRIES', 'BATCH.CREATE'], denied: 403 }],
  empty: '400 InvalidRequestException: jobIds is empty',
  selectors: {
    processInstances: 'queryJobs(processInstanceIds[]).processInstanceId',
    processInstanceQuery: 'processInstances',
    historicProcessInstanceQuery: 'processInstances',
    jobQuery: 'jobIds',
  },
} as const satisfies Partial<OperationEntry>

/** Process Instance: 26 operations of the published API. */
export const processInstance = [
  listOperations({
    path: '/process-instance',
    operations: {
      GET: 'getProcessInstances',
      POST: 'queryProcessInstances',
      'GET count': 'getProcessInstancesCount',
      'POST count': 'queryProcessInstancesCount',
    },
    items: {
      anyOf: instancePermissions('READ', 'item'),
      prefilter: 'processInstances',
    },
  }),
  {
    getProcessInstance: {
      route: 'GET /process-instance/:id',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.READ path:id',
          'PROCESS_DEFINITION.READ_INSTANCE processInstance.processDefinitionKey',
        ], denied: 404, foundBy: 'query' },
      ],
      notFound: '404 InvalidRequestException: Process instance with id {id} does not exist',
    },
    deleteProcessInstance: {
      route: 'DELETE /process-instance/:id',
      body: 'none',
      checks: [{ anyOf: instancePermissions('DELETE', 'execution'), denied: 403 }],
      notFound: "404 InvalidRequestException 0: No process instance found for id '{id}': processInstance is null",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    getActivityInstanceTree: {
      route: 'GET /process-instance/:id/activity-instances',
      checks: [{ anyOf: instancePermissions('READ', 'execution'), denied: 403 }],
      notFound: '404 InvalidRequestException: Process instance with id {id} does not exist',
      crossTenant: "500 InvalidRequestException 0: ENGINE-13034 Cannot read the process instance '{id}' because it belongs to no authenticated tenant.",
      preconditions: [
        { when: 'the execution is no instance', denied: '500 InvalidRequestException 0: Cannot restore state of process instance {execution.processInstanceId}: list of executions is empty' },
      ],
    },
    getProcessInstanceComments: {
      route: 'GET /process-instance/:id/comment',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicProcessInstance.processDefinitionKey'], denied: 404 },
      ],
      notFound: '404 InvalidRequestException: No process instance found for id {id}',
    },
    modifyProcessInstance: {
      route: 'POST /process-instance/:id/modification',
      checks: [
        { anyOf: instancePermissions('UPDATE', 'execution'), denied: 403 },
        { anyOf: instancePermissions('DELETE', 'execution'), when: 'nothing is left active', denied: 403 },
      ],
      notFound: "500 ProcessEngineException 0: ENGINE-13036 Process instance '{id}' cannot be modified. The process instance does not exist",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    modifyProcessInstanceAsyncOperation: {
      route: 'POST /process-instance/:id/modification-async',
      creates: 'answer:id',
      checks: [{ anyOf: ['BATCH.CREATE_BATCH_MODIFY_PROCESS_INSTANCES', 'BATCH.CREATE'], denied: 403 }],
      notFound: "500 ProcessEngineException 0: ENGINE-13036 Process instance '{id}' cannot be modified. The process instance does not exist",
      loads: 'execution',
      crossTenant: 'ignored',
    },
    updateSuspensionStateById: {
      route: 'PUT /process-instance/:id/suspended',
      conflict: 'repeat',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.SUSPEND execution.processInstanceId',
          'PROCESS_DEFINITION.SUSPEND_INSTANCE execution.processDefinitionKey',
          'PROCESS_INSTANCE.UPDATE execution.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE execution.processDefinitionKey',
        ], denied: 403 },
      ],
      notFound: '204',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{id}' because it belongs to no authenticated tenant.",
    },
    deleteProcessInstancesAsyncOperation: {
      route: 'POST /process-instance/delete',
      ...DELETE_IN_BATCH,
    },
    deleteAsyncHistoricQueryBased: {
      route: 'POST /process-instance/delete-historic-query-based',
      ...DELETE_IN_BATCH,
    },
    setRetriesByProcess: {
      route: 'POST /process-instance/job-retries',
      ...SET_RETRIES_IN_BATCH,
    },
    setRetriesByProcessHistoricQueryBased: {
      route: 'POST /process-instance/job-retries-historic-query-based',
      ...SET_RETRIES_IN_BATCH,
    },
    correlateMessageAsyncOperation: {
      route: 'POST /process-instance/message-async',
      creates: 'answer:id',
      checks: [{ anyOf: ['BATCH.CREATE_BATCH_CORRELATE_MESSAGE', 'BATCH.CREATE'], denied: 403 }],
      empty: '400 BadUserRequestException 0: Process instance ids cannot be empty: process instance ids is empty',
      selectors: { processInstanceQuery: 'processInstanceIds', historicProcessInstanceQuery: 'processInstanceIds' },
    },
    updateSuspensionState: {
      route: 'PUT /process-instance/suspended',
      body: 'ProcessInstanceSuspensionStateDto',
      conflict: 'repeat',
      actsOnKey: 'versions that the body names',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.SUSPEND each.id',
          'PROCESS_DEFINITION.SUSPEND_INSTANCE each.processDefinitionKey',
          'PROCESS_INSTANCE.UPDATE each.id',
          'PROCESS_DEFINITION.UPDATE_INSTANCE each.processDefinitionKey',
        ], each: 'processInstances', denied: 403, crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{each.id}' because it belongs to no authenticated tenant." },
        { anyOf: [
          'PROCESS_INSTANCE.SUSPEND',
          'PROCESS_DEFINITION.SUSPEND_INSTANCE processDefinition(body:processDefinitionId).key',
          'PROCESS_INSTANCE.UPDATE',
          'PROCESS_DEFINITION.UPDATE_INSTANCE processDefinition(body:processDefinitionId).key',
        ], when: 'body:processDefinitionId given', denied: 403, crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process definition '{processDefinitionId}' because it belongs to no authenticated tenant." },
        { anyOf: [
          'PROCESS_INSTANCE.SUSPEND',
          'PROCESS_DEFINITION.SUSPEND_INSTANCE body:processDefinitionKey',
          'PROCESS_INSTANCE.UPDATE',
          'PROCESS_DEFINITION.UPDATE_INSTANCE body:processDefinitionKey',
        ], when: 'body:processDefinitionKey given', denied: 403 },
      ],
      notFound: '204',
      empty: '400 BadUserRequestException 0: No process instance ids given: Process Instance ids is empty',
      selectors: { processInstanceQuery: 'processInstanceIds', historicProcessInstanceQuery: 'processInstanceIds' },
    },
    updateSuspensionStateAsyncOperation: {
      route: 'POST /process-instance/suspended-async',
      creates: 'answer:id',
      checks: [
        { anyOf: ['BATCH.CREATE_BATCH_UPDATE_PROCESS_INSTANCES_SUSPEND', 'BATCH.CREATE'], denied: 403 },
      ],
      empty: '400 InvalidRequestException: No process instance ids given: process Instance Ids is empty',
      selectors: { processInstanceQuery: 'processInstanceIds', historicProcessInstanceQuery: 'processInstanceIds' },
    },
    setVariablesAsyncOperation: {
      route: 'POST /process-instance/variables-async',
      creates: 'answer:id',
      checks: [{ anyOf: ['BATCH.CREATE_BATCH_SET_VARIABLES', 'BATCH.CREATE'], denied: 403 }],
      empty: '400 BadUserRequestException 0: processInstanceIds is empty',
      selectors: { processInstanceIds: 'queryProcessInstances(processInstanceIds[]).id', processInstanceQuery: 'processInstanceIds', historicProcessInstanceQuery: 'processInstanceIds' },
    },
  },
  variableOperations({
    path: '/process-instance/:id/variables',
    entity: 'execution',
    name: 'process instance',
    operations: {
      list: 'getProcessInstanceVariables',
      modify: 'modifyProcessInstanceVariables',
      get: 'getProcessInstanceVariable',
      put: { id: 'setProcessInstanceVariable', body: 'VariableValueDto' },
      remove: 'deleteProcessInstanceVariable',
      getData: 'getProcessInstanceVariableBinary',
      postData: 'setProcessInstanceVariableBinary',
    },
  }),
] satisfies Tag
