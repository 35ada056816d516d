/** The entities that the gateway can look up at the engine to determine which permissions a request needs. */
export type LookupName = 'authorization' |
  'batch' |
  'decisionDefinition' |
  'decisionDefinitionOfKey' |
  'decisionRequirementsDefinition' |
  'decisionRequirementsDefinitionOfKey' |
  'deployment' |
  'executedJob' |
  'execution' |
  'externalTask' |
  'group' |
  'historicActivityInstance' |
  'historicBatch' |
  'historicDecisionInstance' |
  'historicDetail' |
  'historicExternalTaskLog' |
  'historicJobLog' |
  'historicProcessInstance' |
  'historicTask' |
  'historicVariableInstance' |
  'incident' |
  'job' |
  'jobDefinition' |
  'jobOfInstance' |
  'messageSubscription' |
  'operationLogEntry' |
  'processDefinition' |
  'processDefinitionOfKey' |
  'processInstance' |
  'task' |
  'tenant' |
  'user' |
  'variableInstance'
