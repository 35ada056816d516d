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
  'filter' |
  'group' |
  'historicActivityInstance' |
  'historicBatch' |
  'historicDecisionInstance' |
  'historicDetail' |
  'historicExternalTaskLog' |
  'historicIncident' |
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
