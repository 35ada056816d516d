import type { Templates } from './template.ts'

const OF_TENANT = 'tenantIdIn=acme'
const INSTANCES = '<pi.*>,<pi.office-1>'
const gets = (...queries: readonly string[]) => queries.map((query) => ({ query }))
const posts = (...bodies: readonly Readonly<Record<string, unknown>>[]) => bodies.map((body) => ({ body }))
const ofTenant = { tenantIdIn: ['acme', 'globex'] }
const ofInstances = { processInstanceIdIn: ['<pi.*>', '<pi.office-1>'] }

/** Counts of queries with members that are lists. */
export const counts: Templates = {
  getBatchesCount: gets(OF_TENANT, 'type=set-variables'),
  getDecisionDefinitionsCount: gets(OF_TENANT, 'decisionDefinitionIdIn=<dd.*>,<dd.*>'),
  getDecisionRequirementsDefinitionsCount: gets(OF_TENANT, 'decisionRequirementsDefinitionIdIn=<drd.*>'),
  getDeploymentsCount: gets(OF_TENANT),
  getEventSubscriptionsCount: gets(OF_TENANT),
  getExecutionsCount: gets(OF_TENANT, `processInstanceId=<pi.*>`),
  queryExecutionsCount: posts(ofTenant),
  getExternalTasksCount: gets(
    OF_TENANT,
    'externalTaskIdIn=<extern.*>,<extern.*>',
    'activityIdIn=work',
    `processInstanceIdIn=${INSTANCES},<pi.external-1>`,
    'processDefinitionKeyIn=external,office',
  ),
  queryExternalTasksCount: posts(ofTenant, {
    processInstanceIdIn: ['<pi.external-1>', '<pi.external-2>'],
  }),
  getHistoricActivityInstancesCount: gets(OF_TENANT),
  queryHistoricActivityInstancesCount: posts(ofTenant),
  getHistoricBatchesCount: gets(OF_TENANT),
  getHistoricDecisionInstancesCount: gets(
    OF_TENANT,
    'decisionDefinitionKeyIn=dish,season',
    'decisionDefinitionIdIn=<dd.*>,<dd.*>',
  ),
  getHistoricDetailsCount: gets(OF_TENANT, `variableNameIn=pages,colour`),
  getHistoricExternalTaskLogsCount: gets(OF_TENANT, 'activityIdIn=work', 'executionIdIn=<execution.*>'),
  queryHistoricExternalTaskLogsCount: posts(ofTenant, { activityIdIn: ['work'] }),
  getHistoricIdentityLinksCount: gets(OF_TENANT),
  getHistoricIncidentsCount: gets(
    OF_TENANT,
    'processDefinitionKeyIn=broken,external',
    'jobDefinitionIdIn=<jobdef.*>',
  ),
  getHistoricJobLogsCount: gets(OF_TENANT, 'activityIdIn=send,wait', 'executionIdIn=<execution.*>'),
  queryHistoricJobLogsCount: posts(ofTenant, { activityIdIn: ['send', 'wait'] }),
  getHistoricProcessInstancesCount: gets(
    OF_TENANT,
    `processInstanceIds=${INSTANCES}`,
    'processDefinitionKeyIn=office,mail',
    'processDefinitionKeyNotIn=office,mail',
    'executedActivityIdIn=desk',
    'activeActivityIdIn=desk,read',
  ),
  queryHistoricProcessInstancesCount: posts(
    ofTenant,
    { processInstanceIds: ['<pi.*>', '<ended.*>'] },
    { processDefinitionKeyNotIn: ['office'] },
    { activeActivityIdIn: ['desk', 'read'] },
  ),
  getHistoricTaskInstancesCount: gets(
    OF_TENANT,
    'taskDefinitionKeyIn=desk,read',
    'activityInstanceIdIn=<activity.*>',
  ),
  queryHistoricTaskInstancesCount: posts(
    ofTenant,
    { taskDefinitionKeyIn: ['desk'] },
    { orQueries: [{ taskDefinitionKeyIn: ['read'], taskAssignee: 'anna' }] },
  ),
  getHistoricVariableInstancesCount: gets(
    OF_TENANT,
    `processInstanceIdIn=${INSTANCES}`,
    'executionIdIn=<execution.*>',
    'taskIdIn=<task.*>',
    'variableTypeIn=String',
  ),
  queryHistoricVariableInstancesCount: posts(ofTenant, ofInstances, { variableTypeIn: ['String', 'Long'] }),
  getIncidentsCount: gets(
    OF_TENANT,
    'processDefinitionKeyIn=broken,external',
    'jobDefinitionIdIn=<jobdef.*>',
  ),
  getJobsCount: gets(OF_TENANT, 'jobIds=<job.*>,<job.*>', 'processInstanceIds=<pi.mail-1>,<pi.timed-1>'),
  queryJobsCount: posts(ofTenant, { jobIds: ['<job.*>', '<job.*>'] }),
  getJobDefinitionsCount: gets(OF_TENANT, 'activityIdIn=send,wait'),
  queryJobDefinitionsCount: posts(ofTenant, { activityIdIn: ['send'] }),
  getProcessDefinitionsCount: gets(
    OF_TENANT,
    'keysIn=office,mail',
    'processDefinitionIdIn=<pd.*>,<pd.office.1>',
  ),
  getProcessInstancesCount: gets(
    OF_TENANT,
    `processInstanceIds=${INSTANCES}`,
    'processDefinitionKeyIn=office,mail',
    'processDefinitionKeyNotIn=office',
    'activityIdIn=desk,read',
  ),
  queryProcessInstancesCount: posts(
    ofTenant,
    { processInstanceIds: ['<pi.*>', '<pi.office-1>'] },
    { activityIdIn: ['desk'] },
    { orQueries: [{ processDefinitionKeyIn: ['office', 'review'], businessKey: 'mail-1' }] },
  ),
  getTasksCount: gets(
    OF_TENANT,
    'taskDefinitionKeyIn=desk,read',
    'candidateGroups=editors,readers',
    'processInstanceBusinessKeyIn=office-1,review-1',
    'assigneeIn=anna,ben',
    'assigneeNotIn=anna',
    'processInstanceIdIn=<pi.*>,<pi.review-1>',
  ),
  queryTasksCount: posts(
    ofTenant,
    { taskDefinitionKeyIn: ['desk', 'read'] },
    { candidateGroups: ['editors'], includeAssignedTasks: true },
    { processInstanceBusinessKeyIn: ['office-1', 'review-1'] },
    { assigneeIn: ['anna', 'ben'] },
  ),
  getVariableInstancesCount: gets(
    OF_TENANT,
    `processInstanceIdIn=${INSTANCES}`,
    'variableNameIn=pages,colour',
    'executionIdIn=<execution.*>',
    'activityInstanceIdIn=<activity.*>',
    'batchIdIn=<batch.*>',
    'taskIdIn=<task.*>,<task.alone-1>',
  ),
  queryVariableInstancesCount: posts(
    ofTenant,
    ofInstances,
    { variableNameIn: ['pages', 'note'] },
    { taskIdIn: ['<task.*>'] },
  ),
}
