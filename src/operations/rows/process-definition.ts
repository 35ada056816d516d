import { listOperations } from '../list-operations.ts'
import type { Rowset } from '../table.ts'

/** Process Definition: 46 operations of the published API and two more. */
export const processDefinition = {
  ...listOperations({
    path: '/process-definition',
    operations: {
      GET: 'getProcessDefinitions',
      'GET count': 'getProcessDefinitionsCount',
    },
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ row:key'],
      where: { query: 'startablePermissionCheck', and: ['PROCESS_DEFINITION.CREATE_INSTANCE row:key'] },
      query: 'processDefinitions',
    },
  }),
  getProcessDefinition: {
    route: 'GET /process-definition/:id',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 404 }],
    notFound: '404 InvalidRequestException 0: No matching definition with id {id}',
  },
  deleteProcessDefinition: {
    route: 'DELETE /process-definition/:id',
    media: 'none',
    checks: [{ anyOf: ['PROCESS_DEFINITION.DELETE processDefinition.key'], denied: 403 }],
    evicts: ['deployment'],
    notFound: "404 InvalidRequestException 0: No process definition found with id '{id}': processDefinition is null",
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getDeployedStartForm: {
    route: 'GET /process-definition/:id/deployed-start-form',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 'plain' }],
    notFound: "404 InvalidRequestException: no deployed process definition found with id '{id}': processDefinition is null",
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getProcessDefinitionDiagram: {
    route: 'GET /process-definition/:id/diagram',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    cache: { seconds: 3600, tags: ['deployment'], content: 'diagram' },
    notFound: "400 NotFoundException 0: no deployed process definition found with id '{id}': processDefinition is null",
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getStartFormVariables: {
    route: 'GET /process-definition/:id/form-variables',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    notFound: "400 NotFoundException 0: no deployed process definition found with id '{id}': processDefinition is null",
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  updateHistoryTimeToLiveByProcessDefinitionId: {
    route: 'PUT /process-definition/:id/history-time-to-live',
    checks: [{ anyOf: ['PROCESS_DEFINITION.UPDATE processDefinition.key'], denied: 403 }],
    notFound: '500 NullPointerException: Cannot invoke "org.camunda.bpm.engine.impl.persistence.entity.ProcessDefinitionEntity.getHistoryTimeToLive()" because "processDefinitionEntity" is null',
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getRenderedStartForm: {
    route: 'GET /process-definition/:id/rendered-form',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    notFound: "400 NotFoundException 0: no deployed process definition found with id '{id}': processDefinition is null",
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  restartProcessInstance: {
    route: 'POST /process-definition/:id/restart',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY processDefinition.key'], denied: 403 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], each: 'restartedInstances', denied: 403, otherTenant: '400 InvalidRequestException: Historic process instance cannot be found: historicProcessInstanceId is null' },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE processDefinition.key'], each: 'restartedInstances', denied: 403, otherTenant: '400 InvalidRequestException: Historic process instance cannot be found: historicProcessInstanceId is null' },
    ],
    notFound: "400 InvalidRequestException: no deployed process definition found with id '{id}': processDefinition is null",
    empty: '400 InvalidRequestException: processInstanceIds is empty',
    resolvesQueries: { historicProcessInstanceQuery: 'processInstanceIds' },
    otherTenant: 'ignored',
  },
  restartProcessInstanceAsyncOperation: {
    route: 'POST /process-definition/:id/restart-async',
    creates: 'answer:id',
    checks: [{ anyOf: ['BATCH.CREATE_BATCH_RESTART_PROCESS_INSTANCES', 'BATCH.CREATE'], denied: 403 }],
    empty: '400 InvalidRequestException: processInstanceIds is empty',
    resolvesQueries: { historicProcessInstanceQuery: 'processInstanceIds' },
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot restart process instances of process definition '{id}' because it belongs to no authenticated tenant.",
    notFound: "400 InvalidRequestException: no deployed process definition found with id '{id}': processDefinition is null",
    entity: 'processDefinition',
  },
  startProcessInstance: {
    route: 'POST /process-definition/:id/start',
    creates: 'answer:id',
    starts: 'processDefinition',
    idempotencyKey: true,
    checks: [
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE processDefinition.key'], denied: 403 },
    ],
    links: true,
    notFound: "500 RestException 0: Cannot instantiate process definition {id}: no deployed process definition found with id '{id}': processDefinition is null",
    otherTenant: "500 RestException 0: Cannot instantiate process definition {id}: ENGINE-13034 Cannot create an instance of the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getStartForm: {
    route: 'GET /process-definition/:id/startForm',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    notFound: '400 InvalidRequestException 0: Cannot get start form data for process definition {id}',
  },
  getStaticCalledProcessDefinitions: {
    route: 'GET /process-definition/:id/static-called-process-definitions',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    rows: { anyOf: ['PROCESS_DEFINITION.READ row:key'], paging: 'ignored' },
    notFound: "404 InvalidRequestException: no deployed process definition found with id '{id}': processDefinition is null",
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
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
    notFound: "500 NullValueException 0: no deployed process definition found with id '{id}': processDefinition is null",
    otherTenant: '200 []',
  },
  submitForm: {
    route: 'POST /process-definition/:id/submit-form',
    creates: 'answer:id',
    starts: 'processDefinition',
    idempotencyKey: true,
    checks: [
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE processDefinition.key'], denied: 403 },
    ],
    links: true,
    notFound: "500 RestException 0: Cannot instantiate process definition {id}: no deployed process definition found with id '{id}': processDefinition is null",
    otherTenant: "500 RestException 0: Cannot instantiate process definition {id}: ENGINE-13034 Cannot create an instance of the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  updateProcessDefinitionSuspensionStateById: {
    route: 'PUT /process-definition/:id/suspended',
    conflict: 'repeat',
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
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process definition '{id}' because it belongs to no authenticated tenant.",
    notFound: '500 NullPointerException: Cannot invoke "org.camunda.bpm.engine.impl.persistence.entity.ProcessDefinitionEntity.getId()" because "processDefinition" is null',
  },
  getProcessDefinitionBpmn20Xml: {
    route: 'GET /process-definition/:id/xml',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    cache: { seconds: 3600, tags: ['deployment'], content: 'model' },
    notFound: '404 InvalidRequestException 0: No matching definition with id {id}',
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the process definition '{id}' because it belongs to no authenticated tenant.",
  },
  getProcessDefinitionByKey: {
    route: 'GET /process-definition/key/:key',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 }],
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  deleteProcessDefinitionsByKey: {
    route: 'DELETE /process-definition/key/:key',
    media: 'none',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.DELETE path:key'], denied: 403 },
    ],
    evicts: ['deployment'],
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  // Deletes all versions of all tenants. `DELETE /process-definition/key/{key}` deletes only the latest version without a tenant.
  deleteAllProcessDefinitionsByKey: {
    route: 'DELETE /process-definition/key/:key/delete',
    unpublished: true,
    media: 'none',
    actsOn: 'all versions',
    checks: [{ anyOf: ['PROCESS_DEFINITION.DELETE each.key'], each: 'versionsOfKey', denied: 403, otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete the process definition '{each.id}' because it belongs to no authenticated tenant." }],
    evicts: ['deployment'],
    notFound: "404 InvalidRequestException: No process definition found with key '{key}': processDefinitions is empty",
  },
  getDeployedStartFormByKey: {
    route: 'GET /process-definition/key/:key/deployed-start-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 'plain' },
    ],
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  getProcessDefinitionDiagramByKey: {
    route: 'GET /process-definition/key/:key/diagram',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    cache: { seconds: 30, tags: ['deployment'], content: 'diagram' },
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  getStartFormVariablesByKey: {
    route: 'GET /process-definition/key/:key/form-variables',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  updateHistoryTimeToLiveByProcessDefinitionKey: {
    route: 'PUT /process-definition/key/:key/history-time-to-live',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  getRenderedStartFormByKey: {
    route: 'GET /process-definition/key/:key/rendered-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  startProcessInstanceByKey: {
    route: 'POST /process-definition/key/:key/start',
    creates: 'answer:id',
    starts: 'processDefinitionOfKey',
    idempotencyKey: true,
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  getStartFormByKey: {
    route: 'GET /process-definition/key/:key/startForm',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
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
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  submitFormByKey: {
    route: 'POST /process-definition/key/:key/submit-form',
    creates: 'answer:id',
    starts: 'processDefinitionOfKey',
    idempotencyKey: true,
    body: 'StartProcessInstanceFormDto',
    checks: [
      { name: 'read', anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  updateProcessDefinitionSuspensionStateByKey: {
    route: 'PUT /process-definition/key/:key/suspended',
    conflict: 'repeat',
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
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  getLatestProcessDefinitionByTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 }],
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  deleteProcessDefinitionsByKeyAndTenantId: {
    route: 'DELETE /process-definition/key/:key/tenant-id/:tenantId',
    media: 'none',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.DELETE path:key'], denied: 403 },
    ],
    evicts: ['deployment'],
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  deleteAllProcessDefinitionsByKeyAndTenantId: {
    route: 'DELETE /process-definition/key/:key/tenant-id/:tenantId/delete',
    unpublished: true,
    media: 'none',
    actsOn: 'all versions of the tenant',
    checks: [{ anyOf: ['PROCESS_DEFINITION.DELETE each.key'], each: 'versionsOfKey', denied: 403, otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete the process definition '{each.id}' because it belongs to no authenticated tenant." }],
    evicts: ['deployment'],
    notFound: "404 InvalidRequestException: No process definition found with key '{key}': processDefinitions is empty",
  },
  getDeployedStartFormByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/deployed-start-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 'plain' },
    ],
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getProcessDefinitionDiagramByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/diagram',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    cache: { seconds: 30, tags: ['deployment'], content: 'diagram' },
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getStartFormVariablesByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/form-variables',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  updateHistoryTimeToLiveByProcessDefinitionKeyAndTenantId: {
    route: 'PUT /process-definition/key/:key/tenant-id/:tenantId/history-time-to-live',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getRenderedStartFormByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/rendered-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  startProcessInstanceByKeyAndTenantId: {
    route: 'POST /process-definition/key/:key/tenant-id/:tenantId/start',
    creates: 'answer:id',
    starts: 'processDefinitionOfKey',
    idempotencyKey: true,
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getStartFormByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/startForm',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
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
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  submitFormByKeyAndTenantId: {
    route: 'POST /process-definition/key/:key/tenant-id/:tenantId/submit-form',
    creates: 'answer:id',
    starts: 'processDefinitionOfKey',
    idempotencyKey: true,
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  updateProcessDefinitionSuspensionStateByKeyAndTenantId: {
    route: 'PUT /process-definition/key/:key/tenant-id/:tenantId/suspended',
    conflict: 'repeat',
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
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getProcessDefinitionBpmn20XmlByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/xml',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    cache: { seconds: 30, tags: ['deployment'], content: 'model' },
    notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getProcessDefinitionBpmn20XmlByKey: {
    route: 'GET /process-definition/key/:key/xml',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    cache: { seconds: 30, tags: ['deployment'], content: 'model' },
    notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  getProcessDefinitionStatistics: {
    route: 'GET /process-definition/statistics',
    checks: [],
    rows: { anyOf: ['PROCESS_DEFINITION.READ row:key'], paging: 'ignored' },
  },
  updateProcessDefinitionSuspensionState: {
    route: 'PUT /process-definition/suspended',
    conflict: 'repeat',
    actsOn: 'all versions',
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
    preconditions: [
      { when: 'body:processDefinitionId given', answer: '400 InvalidRequestException: Only processDefinitionKey can be set to update the suspension state.' },
      { when: 'body:processDefinitionKey absent', answer: '400 InvalidRequestException: Either processDefinitionId or processDefinitionKey should be set to update the suspension state.' },
    ],
  },
} satisfies Rowset
