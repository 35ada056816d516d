import type { Template, Templates } from './template.ts'

const LISTS = ['', 'processInstanceId=<pi.office-1>', 'processInstanceId=<pi.*>'].map((query) => ({ query }))
const POSTS = [{}, { processInstanceId: '<pi.office-1>' }, { processInstanceId: '<pi.*>' }].map((body) => ({
  body,
}))
const BATCH = { leaves: ['batch'] } as const
const ENDED = { historicProcessInstanceIds: ['<new.pi>'] }
const onEnded = (template: Template): readonly Template[] => [{ uses: 'ended', ...template }]

/** Two conditions that exclude each other. The list determines which of them is applied. */
const OF_TENANTS = [
  { query: 'tenantIdIn=acme&withoutTenantId=true' },
  { query: 'tenantIdIn=globex&withoutTenantId=true' },
]

export const history: Templates = {
  getHistoricActivityInstances: LISTS,
  queryHistoricActivityInstances: POSTS,
  getHistoricActivityInstancesCount: LISTS,
  queryHistoricActivityInstancesCount: POSTS,
  getHistoricBatches: [{}, { query: 'type=set-variables' }],
  getHistoricBatchesCount: [{}],
  deleteHistoricBatch: [{ params: { id: '<new.batch>' }, uses: 'batch' }],
  getCleanableHistoricBatchesReport: [{}],
  getCleanableHistoricBatchesReportCount: [{}],
  setRemovalTimeAsyncHistoricBatch: [
    {
      body: { historicBatchIds: ['<new.batch>'], clearedRemovalTime: true },
      uses: 'batch',
      ...BATCH,
    },
    { body: { historicBatchQuery: { type: 'set-variables' }, clearedRemovalTime: true }, ...BATCH },
  ],
  getCleanableHistoricDecisionInstanceReport: [{}, ...OF_TENANTS],
  getCleanableHistoricDecisionInstanceReportCount: [{}, ...OF_TENANTS],
  getHistoricDecisionInstances: [
    { query: 'decisionDefinitionKey=dish' },
    { query: 'decisionDefinitionKeyIn=dish,season' },
    {},
  ],
  getHistoricDecisionInstancesCount: [{ query: 'decisionDefinitionKey=season' }, {}],
  getHistoricDecisionInstance: [{}, { query: 'includeInputs=true&includeOutputs=true' }],
  deleteAsync: [
    {
      body: { historicDecisionInstanceIds: ['<new.hdi>'], deleteReason: 'test' },
      uses: 'decided',
      keeps: true,
      ...BATCH,
    },
    { body: { historicDecisionInstanceQuery: { decisionDefinitionKey: 'dish' } }, ...BATCH },
  ],
  setRemovalTimeAsyncHistoricDecisionInstance: [
    {
      body: { historicDecisionInstanceIds: ['<new.hdi>'], clearedRemovalTime: true },
      uses: 'decided',
      keeps: true,
      ...BATCH,
    },
    {
      body: {
        historicDecisionInstanceQuery: {
          decisionDefinitionKeyIn: ['dish', 'discount'],
          rootDecisionInstancesOnly: true,
        },
        clearedRemovalTime: true,
      },
      ...BATCH,
    },
  ],
  getHistoricDetails: LISTS,
  queryHistoricDetails: POSTS,
  getHistoricDetailsCount: LISTS,
  getHistoricExternalTaskLogs: LISTS,
  queryHistoricExternalTaskLogs: [
    ...POSTS,
    {
      query: 'maxResults=5',
      body: { processInstanceId: '<pi.external-2>', sorting: [{ sortBy: 'timestamp', sortOrder: 'asc' }] },
    },
  ],
  getHistoricExternalTaskLogsCount: LISTS,
  queryHistoricExternalTaskLogsCount: POSTS,
  getHistoricIdentityLinks: [{}, { query: 'groupId=editors' }, { query: 'userId=anna' }],
  getHistoricIdentityLinksCount: [{}, { query: 'userId=ben' }],
  getHistoricIncidents: [{}, { query: 'processDefinitionKey=broken' }],
  getHistoricIncidentsCount: [{}],
  getHistoricJobLogs: LISTS,
  queryHistoricJobLogs: POSTS,
  getHistoricJobLogsCount: LISTS,
  queryHistoricJobLogsCount: POSTS,
  getHistoricActivityStatistics: [{}, { query: 'finished=true' }],
  getCleanableHistoricProcessInstanceReport: [{}, { query: 'processDefinitionKeyIn=office' }, ...OF_TENANTS],
  getCleanableHistoricProcessInstanceReportCount: [{}, ...OF_TENANTS],
  getHistoricProcessInstances: [
    {},
    { query: 'processDefinitionKey=office' },
    { query: 'finished=true' },
    { query: 'sortBy=businessKey&sortOrder=asc&maxResults=3' },
  ],
  queryHistoricProcessInstances: [{ body: {} }, { body: { processDefinitionKeyIn: ['office', 'mail'] } }],
  getHistoricProcessInstancesCount: [{}, { query: 'unfinished=true' }],
  queryHistoricProcessInstancesCount: [{ body: {} }, { body: { processDefinitionKey: 'office' } }],
  deleteHistoricProcessInstance: onEnded({ params: { id: '<new.pi>' } }),
  deleteHistoricVariableInstancesOfHistoricProcessInstance: onEnded({ params: { id: '<new.pi>' } }),
  deleteHistoricProcessInstancesAsync: onEnded({ body: ENDED, ...BATCH }),
  getHistoricProcessInstanceDurationReport: [
    { query: 'reportType=duration&periodUnit=month' },
    { query: 'reportType=duration&periodUnit=month&processDefinitionKeyIn=office,review' },
    { query: 'reportType=duration&periodUnit=quarter&processDefinitionIdIn=<pd.office.1>' },
    { query: 'reportType=duration&periodUnit=quarter&processDefinitionIdIn=<pd.office.1>,<pd.mail.1>' },
  ],
  setRemovalTimeAsync: onEnded({ body: { ...ENDED, clearedRemovalTime: true }, ...BATCH }),
  getHistoricTaskInstances: [...LISTS, { query: 'assignee=anna' }, { query: 'finished=true' }],
  queryHistoricTaskInstances: POSTS,
  getHistoricTaskInstancesCount: LISTS,
  queryHistoricTaskInstancesCount: POSTS,
  getHistoricTaskInstanceReport: [
    { query: 'reportType=count&groupBy=processDefinition' },
    { query: 'reportType=duration&periodUnit=month' },
  ],
  queryUserOperationEntries: [
    { query: 'processInstanceId=<pi.office-1>' },
    { query: 'processInstanceId=<pi.*>' },
    { query: 'entityType=ProcessInstance&property=suspensionState' },
    { query: 'category=Admin&entityType=Group' },
  ],
  queryUserOperationCount: [{ query: 'processInstanceId=<pi.office-1>' }, { query: 'entityType=Attachment' }],
  setAnnotationUserOperationLog: [{ params: { operationId: '<op.*>' }, body: { annotation: 'seen' } }],
  clearAnnotationUserOperationLog: [{ params: { operationId: '<op.*>' } }],
  getHistoricVariableInstances: [...LISTS, { query: 'variableName=pages' }],
  queryHistoricVariableInstances: POSTS,
  getHistoricVariableInstancesCount: LISTS,
  queryHistoricVariableInstancesCount: POSTS,
  deleteHistoricVariableInstance: onEnded({ params: { id: '<new.hvar>' } }),
  cleanupAsync: [{ query: 'immediatelyDue=true' }, { query: 'immediatelyDue=false' }, {}],
  getHistoryCleanupConfiguration: [{}],
  findCleanupJob: [{}],
  findCleanupJobs: [{}],
}
