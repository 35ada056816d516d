import type { Rowset } from './table.ts'

/** Process Instance: 26 operations of the published API, sorted by path, then method. */
export const processInstance = {
  getProcessInstances: {
    route: 'GET /process-instance',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
  },
  queryProcessInstances: {
    route: 'POST /process-instance',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
  },
  getProcessInstance: {
    route: 'GET /process-instance/:id',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ path:id',
        'PROCESS_DEFINITION.READ_INSTANCE processInstance.processDefinitionKey',
      ], denied: 404 },
    ],
    retry: 'always',
  },
  deleteProcessInstance: {
    route: 'DELETE /process-instance/:id',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.DELETE path:id',
        'PROCESS_DEFINITION.DELETE_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getActivityInstanceTree: {
    route: 'GET /process-instance/:id/activity-instances',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ path:id',
        'PROCESS_DEFINITION.READ_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
    ],
    retry: 'always',
  },
  getProcessInstanceComments: {
    route: 'GET /process-instance/:id/comment',
    checks: [
      { anyOf: [
        'PROCESS_DEFINITION.READ_HISTORY processInstance.processDefinitionKey',
        'HISTORIC_PROCESS_INSTANCE.READ path:id when:historicInstancePermissions',
      ], denied: 404 },
    ],
    retry: 'always',
  },
  modifyProcessInstance: {
    route: 'POST /process-instance/:id/modification',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
      { anyOf: [
        'PROCESS_INSTANCE.DELETE path:id',
        'PROCESS_DEFINITION.DELETE_INSTANCE processInstance.processDefinitionKey',
      ], when: 'nothing is left active', denied: 403 },
    ],
  },
  modifyProcessInstanceAsyncOperation: {
    route: 'POST /process-instance/:id/modification-async',
    checks: [{ anyOf: ['BATCH.CREATE_BATCH_MODIFY_PROCESS_INSTANCES', 'BATCH.CREATE'], denied: 403 }],
  },
  updateSuspensionStateById: {
    route: 'PUT /process-instance/:id/suspended',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.SUSPEND path:id',
        'PROCESS_DEFINITION.SUSPEND_INSTANCE processInstance.processDefinitionKey',
        'PROCESS_INSTANCE.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getProcessInstanceVariables: {
    route: 'GET /process-instance/:id/variables',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ path:id',
        'PROCESS_DEFINITION.READ_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
    ],
    retry: 'always',
  },
  modifyProcessInstanceVariables: {
    route: 'POST /process-instance/:id/variables',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE processInstance.processDefinitionKey',
        'PROCESS_INSTANCE.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getProcessInstanceVariable: {
    route: 'GET /process-instance/:id/variables/:varName',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ path:id',
        'PROCESS_DEFINITION.READ_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
    ],
    retry: 'always',
  },
  setProcessInstanceVariable: {
    route: 'PUT /process-instance/:id/variables/:varName',
    body: 'VariableValueDto',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE processInstance.processDefinitionKey',
        'PROCESS_INSTANCE.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  deleteProcessInstanceVariable: {
    route: 'DELETE /process-instance/:id/variables/:varName',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE processInstance.processDefinitionKey',
        'PROCESS_INSTANCE.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getProcessInstanceVariableBinary: {
    route: 'GET /process-instance/:id/variables/:varName/data',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.READ path:id',
        'PROCESS_DEFINITION.READ_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
    ],
    retry: 'always',
  },
  setProcessInstanceVariableBinary: {
    route: 'POST /process-instance/:id/variables/:varName/data',
    media: 'multipart',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE_VARIABLE path:id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE processInstance.processDefinitionKey',
        'PROCESS_INSTANCE.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE processInstance.processDefinitionKey',
      ], denied: 403 },
    ],
  },
  getProcessInstancesCount: {
    route: 'GET /process-instance/count',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
  },
  queryProcessInstancesCount: {
    route: 'POST /process-instance/count',
    checks: [],
    rows: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
    retry: 'always',
  },
  deleteProcessInstancesAsyncOperation: {
    route: 'POST /process-instance/delete',
    checks: [
      { anyOf: ['BATCH.CREATE_BATCH_DELETE_RUNNING_PROCESS_INSTANCES', 'BATCH.CREATE'], denied: 403 },
    ],
    selects: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
  },
  deleteAsyncHistoricQueryBased: {
    route: 'POST /process-instance/delete-historic-query-based',
    checks: [
      { anyOf: ['BATCH.CREATE_BATCH_DELETE_RUNNING_PROCESS_INSTANCES', 'BATCH.CREATE'], denied: 403 },
    ],
    selects: {
      anyOf: [
        'PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey',
        'HISTORIC_PROCESS_INSTANCE.READ row:id when:historicInstancePermissions',
      ],
    },
  },
  setRetriesByProcess: {
    route: 'POST /process-instance/job-retries',
    checks: [{ anyOf: ['BATCH.CREATE_BATCH_SET_JOB_RETRIES', 'BATCH.CREATE'], denied: 403 }],
    selects: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
  },
  setRetriesByProcessHistoricQueryBased: {
    route: 'POST /process-instance/job-retries-historic-query-based',
    checks: [{ anyOf: ['BATCH.CREATE_BATCH_SET_JOB_RETRIES', 'BATCH.CREATE'], denied: 403 }],
    selects: {
      anyOf: [
        'PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey',
        'HISTORIC_PROCESS_INSTANCE.READ row:id when:historicInstancePermissions',
      ],
    },
  },
  correlateMessageAsyncOperation: {
    route: 'POST /process-instance/message-async',
    checks: [{ anyOf: ['BATCH.CREATE_BATCH_CORRELATE_MESSAGE', 'BATCH.CREATE'], denied: 403 }],
    selects: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
  },
  updateSuspensionState: {
    route: 'PUT /process-instance/suspended',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.SUSPEND each.id',
        'PROCESS_DEFINITION.SUSPEND_INSTANCE each.processDefinitionKey',
        'PROCESS_INSTANCE.UPDATE each.id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE each.processDefinitionKey',
      ], each: 'processInstances', denied: 403 },
      { anyOf: [
        'PROCESS_INSTANCE.SUSPEND',
        'PROCESS_DEFINITION.SUSPEND_INSTANCE processDefinition(body:processDefinitionId).key',
        'PROCESS_INSTANCE.UPDATE',
        'PROCESS_DEFINITION.UPDATE_INSTANCE processDefinition(body:processDefinitionId).key',
      ], when: 'body:processDefinitionId given', denied: 403 },
      { anyOf: [
        'PROCESS_INSTANCE.SUSPEND',
        'PROCESS_DEFINITION.SUSPEND_INSTANCE body:processDefinitionKey',
        'PROCESS_INSTANCE.UPDATE',
        'PROCESS_DEFINITION.UPDATE_INSTANCE body:processDefinitionKey',
      ], when: 'body:processDefinitionKey given', denied: 403 },
    ],
    selects: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
  },
  updateSuspensionStateAsyncOperation: {
    route: 'POST /process-instance/suspended-async',
    checks: [
      { anyOf: ['BATCH.CREATE_BATCH_UPDATE_PROCESS_INSTANCES_SUSPEND', 'BATCH.CREATE'], denied: 403 },
    ],
    selects: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
  },
  setVariablesAsyncOperation: {
    route: 'POST /process-instance/variables-async',
    checks: [{ anyOf: ['BATCH.CREATE_BATCH_SET_VARIABLES', 'BATCH.CREATE'], denied: 403 }],
    selects: {
      anyOf: [
        'PROCESS_INSTANCE.READ row:processInstanceId',
        'PROCESS_DEFINITION.READ_INSTANCE row:processDefinitionKey',
      ],
    },
  },
} as const satisfies Rowset
