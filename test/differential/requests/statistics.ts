import type { Templates } from './template.ts'

const gets = (...queries: readonly string[]) => queries.map((query) => ({ query }))

const ACTIVITIES = gets(
  '',
  'failedJobs=true',
  'incidents=true',
  'incidentsForType=failedJob',
  'failedJobs=true&incidents=true&incidentsForType=failedJob',
)

/** Statistics, and the reports on what may be cleaned up. */
export const statistics: Templates = {
  getProcessDefinitionStatistics: [
    ...ACTIVITIES,
    ...gets('rootIncidents=true', 'failedJobs=true&rootIncidents=true', 'incidents=true&rootIncidents=true'),
  ],
  getActivityStatistics: ACTIVITIES,
  getActivityStatisticsByProcessDefinitionKey: ACTIVITIES,
  getBatchStatistics: gets(
    'type=set-variables',
    'tenantIdIn=acme',
    'withoutTenantId=true',
    'suspended=false',
    'batchId=<batch.*>',
  ),
  getBatchStatisticsCount: gets(
    'type=set-variables',
    'tenantIdIn=acme',
    'suspended=true',
    'batchId=<batch.*>',
  ),
  getHistoricActivityStatistics: gets(
    'canceled=true',
    'finished=true&completeScope=true',
    'incidents=true',
    'startedAfter=2020-01-01T00:00:00.000%2B0000',
    'sortBy=activityId&sortOrder=asc&finished=true',
    'processInstanceIdIn=<pi.office-1>,<pi.*>',
  ),
  getDecisionStatistics: gets('', 'decisionInstanceId=<hdi.*>'),
  getCleanableHistoricProcessInstanceReport: gets(
    'compact=true',
    'processDefinitionIdIn=<pd.*>,<pd.office.1>',
    'sortBy=finished&sortOrder=desc',
  ),
  getCleanableHistoricProcessInstanceReportCount: gets(
    'processDefinitionKeyIn=office,mail',
    'processDefinitionIdIn=<pd.*>',
  ),
}

/** The operation log. General queries would also find entries of other callers' requests, so all of these are about the world. */
export const operationLog: Templates = {
  queryUserOperationEntries: gets(
    'processInstanceId=<pi.*>&sortBy=timestamp&sortOrder=desc',
    'processInstanceId=<pi.office-1>&operationType=Suspend',
    'taskId=<task.*>',
    'taskId=<task.alone-1>',
    'deploymentId=<deployment.*>',
    'batchId=<batch.*>',
    'processDefinitionId=<pd.*>&property=suspensionState',
    'processDefinitionKey=office&property=suspensionState&entityType=ProcessInstance',
    'entityTypeIn=ProcessInstance,Task&processInstanceId=<pi.office-1>',
    'categoryIn=Operator,TaskWorker&processInstanceId=<pi.*>',
    'category=TaskWorker&taskId=<task.*>',
    'entityType=Attachment&taskId=<task.*>',
    'jobDefinitionId=<jobdef.*>',
    'jobId=<job.*>',
    'externalTaskId=<extern.*>',
    'executionId=<execution.*>',
    'operationId=<op.*>',
  ),
  queryUserOperationCount: gets(
    'processInstanceId=<pi.*>',
    'taskId=<task.*>',
    'deploymentId=<deployment.*>',
    'batchId=<batch.*>',
    'entityTypeIn=ProcessInstance,Task&processInstanceId=<pi.office-1>',
    'categoryIn=Operator,TaskWorker&processInstanceId=<pi.*>',
    'category=Operator&processInstanceId=<pi.*>&operationType=Activate',
    'externalTaskId=<extern.*>',
    'jobId=<job.*>',
    'jobDefinitionId=<jobdef.*>',
    'operationId=<op.*>',
  ),
}
