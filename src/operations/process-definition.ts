import type { Rowset } from './table.ts'

/** Process Definition: 46 operations of the published API, sorted by path, then method. */
export const processDefinition = {
  getProcessDefinitions: {
    route: 'GET /process-definition',
    checks: [],
    rows: { anyOf: ['PROCESS_DEFINITION.READ row:key'] },
    retry: 'always',
  },
  getProcessDefinition: {
    route: 'GET /process-definition/:id',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 404 }],
    retry: 'always',
  },
  deleteProcessDefinition: {
    route: 'DELETE /process-definition/:id',
    checks: [{ anyOf: ['PROCESS_DEFINITION.DELETE processDefinition.key'], denied: 403 }],
    evicts: ['deployment'],
  },
  getDeployedStartForm: {
    route: 'GET /process-definition/:id/deployed-start-form',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
  },
  getProcessDefinitionDiagram: {
    route: 'GET /process-definition/:id/diagram',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
    cache: { seconds: 3600, tags: ['deployment'] },
  },
  getStartFormVariables: {
    route: 'GET /process-definition/:id/form-variables',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
  },
  updateHistoryTimeToLiveByProcessDefinitionId: {
    route: 'PUT /process-definition/:id/history-time-to-live',
    checks: [{ anyOf: ['PROCESS_DEFINITION.UPDATE processDefinition.key'], denied: 403 }],
  },
  getRenderedStartForm: {
    route: 'GET /process-definition/:id/rendered-form',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
  },
  restartProcessInstance: {
    route: 'POST /process-definition/:id/restart',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY processDefinition.key'], denied: 403 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], each: 'restartedInstances', denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE processDefinition.key'], each: 'restartedInstances', denied: 403 },
    ],
    selects: {
      anyOf: [
        'PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey',
        'HISTORIC_PROCESS_INSTANCE.READ row:id when:historicInstancePermissions',
      ],
    },
  },
  restartProcessInstanceAsyncOperation: {
    route: 'POST /process-definition/:id/restart-async',
    checks: [{ anyOf: ['BATCH.CREATE_BATCH_RESTART_PROCESS_INSTANCES', 'BATCH.CREATE'], denied: 403 }],
    selects: {
      anyOf: [
        'PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey',
        'HISTORIC_PROCESS_INSTANCE.READ row:id when:historicInstancePermissions',
      ],
    },
  },
  startProcessInstance: {
    route: 'POST /process-definition/:id/start',
    checks: [
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE processDefinition.key'], denied: 403 },
    ],
    links: true,
  },
  getStartForm: {
    route: 'GET /process-definition/:id/startForm',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
  },
  getStaticCalledProcessDefinitions: {
    route: 'GET /process-definition/:id/static-called-process-definitions',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    rows: { anyOf: ['PROCESS_DEFINITION.READ row:key'] },
    retry: 'always',
  },
  getActivityStatistics: {
    route: 'GET /process-definition/:id/statistics',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
  },
  submitForm: {
    route: 'POST /process-definition/:id/submit-form',
    checks: [
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE processDefinition.key'], denied: 403 },
    ],
    links: true,
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
  },
  getProcessDefinitionBpmn20Xml: {
    route: 'GET /process-definition/:id/xml',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ processDefinition.key'], denied: 403 }],
    retry: 'always',
    cache: { seconds: 3600, tags: ['deployment'] },
  },
  getProcessDefinitionsCount: {
    route: 'GET /process-definition/count',
    checks: [],
    rows: { anyOf: ['PROCESS_DEFINITION.READ row:key'] },
    retry: 'always',
  },
  getProcessDefinitionByKey: {
    route: 'GET /process-definition/key/:key',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
  },
  deleteProcessDefinitionsByKey: {
    route: 'DELETE /process-definition/key/:key',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.DELETE path:key'], denied: 403 },
    ],
    evicts: ['deployment'],
  },
  getDeployedStartFormByKey: {
    route: 'GET /process-definition/key/:key/deployed-start-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
  },
  getProcessDefinitionDiagramByKey: {
    route: 'GET /process-definition/key/:key/diagram',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
  },
  getStartFormVariablesByKey: {
    route: 'GET /process-definition/key/:key/form-variables',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
  },
  updateHistoryTimeToLiveByProcessDefinitionKey: {
    route: 'PUT /process-definition/key/:key/history-time-to-live',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
  },
  getRenderedStartFormByKey: {
    route: 'GET /process-definition/key/:key/rendered-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
  },
  startProcessInstanceByKey: {
    route: 'POST /process-definition/key/:key/start',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
  },
  getStartFormByKey: {
    route: 'GET /process-definition/key/:key/startForm',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
  },
  getActivityStatisticsByProcessDefinitionKey: {
    route: 'GET /process-definition/key/:key/statistics',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
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
  },
  getLatestProcessDefinitionByTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId',
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
  },
  deleteProcessDefinitionsByKeyAndTenantId: {
    route: 'DELETE /process-definition/key/:key/tenant-id/:tenantId',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.DELETE path:key'], denied: 403 },
    ],
    evicts: ['deployment'],
  },
  getDeployedStartFormByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/deployed-start-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
  },
  getProcessDefinitionDiagramByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/diagram',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
  },
  getStartFormVariablesByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/form-variables',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
  },
  updateHistoryTimeToLiveByProcessDefinitionKeyAndTenantId: {
    route: 'PUT /process-definition/key/:key/tenant-id/:tenantId/history-time-to-live',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
  },
  getRenderedStartFormByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/rendered-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
  },
  startProcessInstanceByKeyAndTenantId: {
    route: 'POST /process-definition/key/:key/tenant-id/:tenantId/start',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
  },
  getStartFormByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/startForm',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
  },
  getActivityStatisticsByProcessDefinitionKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/statistics',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
  },
  submitFormByKeyAndTenantId: {
    route: 'POST /process-definition/key/:key/tenant-id/:tenantId/submit-form',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    links: true,
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
  },
  getProcessDefinitionBpmn20XmlByKeyAndTenantId: {
    route: 'GET /process-definition/key/:key/tenant-id/:tenantId/xml',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
  },
  getProcessDefinitionBpmn20XmlByKey: {
    route: 'GET /process-definition/key/:key/xml',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 },
    ],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
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
  },
} as const satisfies Rowset
