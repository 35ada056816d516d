/** What the gateway can read at the engine to learn whose permission is needed. */
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
