import type { Rowset } from './table.ts'

/** Process Definition: 46 operations of the published API, sorted by path, then method. */
export const processDefinition = {
  getProcessDefinitions: {
    route: 'GET /process-definition',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ row:key'],
      where: { query: 'startablePermissionCheck', and: ['PROCESS_DEFINITION.CREATE_INSTANCE row:key'] },
    },
    retry: 'always',
  },
  getProcessDefinition: {
    route: 'GET /process-definition/:id',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 404 }],
    retry: 'always',
    absent: '404 InvalidRequestException 0: No matching definition with id {id}',
  },
  deleteProcessDefinition: {
    route: 'DELETE /process-definition/:id',
    checks: [{ anyOf: ['PROCESS_DEFINITION.DELETE processDefinition.key'], denied: 403 }],
    evicts: ['deployment'],
    absent: "404 InvalidRequestException 0: No process definition found with id '{id}': processDefinition is null",
    foreign: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getDeployedStartForm: {
    route: 'GET /process-definition/:id/deployed-start-form',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 'plain' }],
    retry: 'always',
    absent: "404 InvalidRequestException: no deployed process definition found with id '{id}': processDefinition is null",
    foreign: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getProcessDefinitionDiagram: {
    route: 'GET /process-definition/:id/diagram',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
    cache: { seconds: 3600, tags: ['deployment'] },
    absent: "400 NotFoundException 0: no deployed process definition found with id '{id}': processDefinition is null",
    foreign: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getStartFormVariables: {
    route: 'GET /process-definition/:id/form-variables',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
    absent: "400 NotFoundException 0: no deployed process definition found with id '{id}': processDefinition is null",
    foreign: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  updateHistoryTimeToLiveByProcessDefinitionId: {
    route: 'PUT /process-definition/:id/history-time-to-live',
    checks: [{ anyOf: ['PROCESS_DEFINITION.UPDATE processDefinition.key'], denied: 403 }],
    absent: '500 NullPointerException: Cannot invoke "org.camunda.bpm.engine.impl.persistence.entity.ProcessDefinitionEntity.getHistoryTimeToLive()" because "processDefinitionEntity" is null',
    foreign: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getRenderedStartForm: {
    route: 'GET /process-definition/:id/rendered-form',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
    absent: "400 NotFoundException 0: no deployed process definition found with id '{id}': processDefinition is null",
    foreign: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  restartProcessInstance: {
    route: 'POST /process-definition/:id/restart',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY processDefinition.key'], denied: 403 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], each: 'restartedInstances', denied: 403, foreign: '400 InvalidRequestException: Historic process instance cannot be found: historicProcessInstanceId is null' },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE processDefinition.key'], each: 'restartedInstances', denied: 403, foreign: '400 InvalidRequestException: Historic process instance cannot be found: historicProcessInstanceId is null' },
    ],
    absent: "400 InvalidRequestException: no deployed process definition found with id '{id}': processDefinition is null",
    empty: '400 InvalidRequestException: processInstanceIds is empty',
    selects: { historicProcessInstanceQuery: 'processInstanceIds' },
    foreign: 'ignored',
  },
  restartProcessInstanceAsyncOperation: {
    route: 'POST /process-definition/:id/restart-async',
    checks: [{ anyOf: ['BATCH.CREATE_BATCH_RESTART_PROCESS_INSTANCES', 'BATCH.CREATE'], denied: 403 }],
    empty: '400 InvalidRequestException: processInstanceIds is empty',
    selects: { historicProcessInstanceQuery: 'processInstanceIds' },
    foreign: "500 ProcessEngineException 0: ENGINE-13034 Cannot restart process instances of process definition '{id}' because it belongs to no authenticated tenant.",
    absent: "400 InvalidRequestException: no deployed process definition found with id '{id}': processDefinition is null",
    entity: 'processDefinition',
  },
  startProcessInstance: {
    route: 'POST /process-definition/:id/start',
    checks: [
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE processDefinition.key'], denied: 403 },
    ],
    links: true,
    absent: "500 RestException 0: Cannot instantiate process definition {id}: no deployed process definition found with id '{id}': processDefinition is null",
    foreign: "500 RestException 0: Cannot instantiate process definition {id}: ENGINE-13034 Cannot create an instance of the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getStartForm: {
    route: 'GET /process-definition/:id/startForm',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
    absent: '400 InvalidRequestException 0: Cannot get start form data for process definition {id}',
  },
  getStaticCalledProcessDefinitions: {
    route: 'GET /process-definition/:id/static-called-process-definitions',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    rows: { anyOf: ['PROCESS_DEFINITION.READ row:key'] },
    retry: 'always',
    absent: "404 InvalidRequestException: no deployed process definition found with id '{id}': processDefinition is null",
    foreign: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getActivityStatistics: {
    route: 'GET /process-definition/:id/statistics',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    rows: {
      form: 'instance counts',
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
    absent: "500 NullValueException 0: no deployed process definition found with id '{id}': processDefinition is null",
    foreign: '200 []',
  },
  submitForm: {
    route: 'POST /process-definition/:id/submit-form',
    checks: [
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE processDefinition.key'], denied: 403 },
    ],
    links: true,
    absent: "500 RestException 0: Cannot instantiate process definition {id}: no deployed process definition found with id '{id}': processDefinition is null",
    foreign: "500 RestException 0: Cannot instantiate process definition {id}: ENGINE-13034 Cannot create an instance of the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  updateProcessDefinitionSuspensionStateById: {
    route: 'PUT /process-definition/:id/suspended',
    checks: [
      { anyOf: [
        'PROCESS_DEFINITION.SUSPEND processDefinition.key',
        'PROCESS_DEFINITION.UPDATE processDefinition.key',
      ], denied: 403 },
      { anyOf: [
        'PROCESS_INSTANCE.SUSPEND',
        'PROCESS_DEFINITION.SUSPEND_INSTANCE processDefinition.key',
        'PROCESS_INSTANCE.UPDATE',
        'PROCESS_DEFINITION.UPDATE_INSTANCE processDefinition.key',
      ], when: 'body:includeProcessInstances is true', denied: 403 },
    ],
    foreign: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process definition '{id}' because it belongs to no authenticated tenant.",
    absent: '500 NullPointerException: Cannot invoke "org.camunda.bpm.engine.impl.persistence.entity.ProcessDefinitionEntity.getId()" because "processDefinition" is null',
  },
  getProcessDefinitionBpmn20Xml: {
    route: 'GET /process-definition/:id/xml',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
    cache: { seconds: 3600, tags: ['deployment'] },
    absent: '404 InvalidRequestException 0: No matching definition with id {id}',
    foreign: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getProcessDefinitionsCount: {
    route: 'GET /process-definition/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ row:key'],
      where: { query: 'startablePermissionCheck', and: ['PROCESS_DEFINITION.CREATE_INSTANCE row:key'] },
    },
    retry: 'always',
  },
  getProcessDefinitionByKey: {
    route: 'GET /process-definition/key/:key',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  deleteProcessDefinitionsByKey: {
    route: 'DELETE /process-definition/key/:key',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.DELETE path:key'], denied: 403 },
    ],
    evicts: ['deployment'],
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  getDeployedStartFormByKey: {
    route: 'GET /process-definition/key/:key/deployed-start-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 'plain' },
    ],
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  getProcessDefinitionDiagramByKey: {
    route: 'GET /process-definition/key/:key/diagram',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  getStartFormVariablesByKey: {
    route: 'GET /process-definition/key/:key/form-variables',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  updateHistoryTimeToLiveByProcessDefinitionKey: {
    route: 'PUT /process-definition/key/:key/history-time-to-live',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  getRenderedStartFormByKey: {
    route: 'GET /process-definition/key/:key/rendered-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  startProcessInstanceByKey: {
    route: 'POST /process-definition/key/:key/start',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  getStartFormByKey: {
    route: 'GET /process-definition/key/:key/startForm',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  getActivityStatisticsByProcessDefinitionKey: {
    route: 'GET /process-definition/key/:key/statistics',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    rows: {
      form: 'instance counts',
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  submitFormByKey: {
    route: 'POST /process-definition/key/:key/submit-form',
    body: 'StartProcessInstanceFormDto',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  updateProcessDefinitionSuspensionStateByKey: {
    route: 'PUT /process-definition/key/:key/suspended',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.SUSPEND path:key', 'PROCESS_DEFINITION.UPDATE path:key'], denied: 403 },
      { anyOf: [
        'PROCESS_INSTANCE.SUSPEND',
        'PROCESS_DEFINITION.SUSPEND_INSTANCE path:key',
        'PROCESS_INSTANCE.UPDATE',
        'PROCESS_DEFINITION.UPDATE_INSTANCE path:key',
      ], when: 'body:includeProcessInstances is true', denied: 403 },
    ],
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  getLatestProcessDefinitionByTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  deleteProcessDefinitionsByKeyAndTenantId: {
    route: 'DELETE /process-definition/key/:key/tenant-id/:tenantId',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.DELETE path:key'], denied: 403 },
    ],
    evicts: ['deployment'],
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  getDeployedStartFormByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/deployed-start-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 'plain' },
    ],
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  getProcessDefinitionDiagramByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/diagram',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  getStartFormVariablesByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/form-variables',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  updateHistoryTimeToLiveByProcessDefinitionKeyAndTenantId: {
    route: 'PUT /process-definition/key/:key/tenant-id/:tenantId/history-time-to-live',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  getRenderedStartFormByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/rendered-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  startProcessInstanceByKeyAndTenantId: {
    route: 'POST /process-definition/key/:key/tenant-id/:tenantId/start',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  getStartFormByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/startForm',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  getActivityStatisticsByProcessDefinitionKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/statistics',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    rows: {
      form: 'instance counts',
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  submitFormByKeyAndTenantId: {
    route: 'POST /process-definition/key/:key/tenant-id/:tenantId/submit-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  updateProcessDefinitionSuspensionStateByKeyAndTenantId: {
    route: 'PUT /process-definition/key/:key/tenant-id/:tenantId/suspended',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.SUSPEND path:key', 'PROCESS_DEFINITION.UPDATE path:key'], denied: 403 },
      { anyOf: [
        'PROCESS_INSTANCE.SUSPEND',
        'PROCESS_DEFINITION.SUSPEND_INSTANCE path:key',
        'PROCESS_INSTANCE.UPDATE',
        'PROCESS_DEFINITION.UPDATE_INSTANCE path:key',
      ], when: 'body:includeProcessInstances is true', denied: 403 },
    ],
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  getProcessDefinitionBpmn20XmlByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/xml',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
    absent: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    entity: 'processDefinitionOfKey',
  },
  getProcessDefinitionBpmn20XmlByKey: {
    route: 'GET /process-definition/key/:key/xml',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
    absent: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    entity: 'processDefinitionOfKey',
  },
  getProcessDefinitionStatistics: {
    route: 'GET /process-definition/statistics',
    checks: [],
    rows: { anyOf: ['PROCESS_DEFINITION.READ row:key'] },
    retry: 'always',
  },
  updateProcessDefinitionSuspensionState: {
    route: 'PUT /process-definition/suspended',
    checks: [
      { anyOf: [
        'PROCESS_DEFINITION.SUSPEND body:processDefinitionKey',
        'PROCESS_DEFINITION.UPDATE body:processDefinitionKey',
      ], denied: 403 },
      { anyOf: [
        'PROCESS_INSTANCE.SUSPEND',
        'PROCESS_DEFINITION.SUSPEND_INSTANCE body:processDefinitionKey',
        'PROCESS_INSTANCE.UPDATE',
        'PROCESS_DEFINITION.UPDATE_INSTANCE body:processDefinitionKey',
      ], when: 'body:includeProcessInstances is true', denied: 403 },
    ],
    first: [
      { when: 'body:processDefinitionId given', answer: '400 InvalidRequestException: Only processDefinitionKey can be set to update the suspension state.' },
      { when: 'body:processDefinitionKey absent', answer: '400 InvalidRequestException: Either processDefinitionId or processDefinitionKey should be set to update the suspension state.' },
    ],
  },
} as const satisfies Rowset
