import type { Template, Templates } from './template.ts'
import { uploadOf, VARIABLES } from './template.ts'

const VALUE = { value: 2, type: 'Long' }
const MODIFIED = { modifications: { pages: VALUE }, deletions: [] }
const PI = { id: '<new.pi>' }
const EXECUTION = { id: '<new.execution>' }
const DESK = [{ type: 'startBeforeActivity', activityId: 'desk' }]
const CANCEL = [{ type: 'cancel', activityId: 'desk' }]

const onInstance = (template: Template): readonly Template[] => [
  { params: PI, uses: 'instance', ...template },
]
const onExecution = (template: Template): readonly Template[] => [
  { uses: 'instance', ...template, params: { ...EXECUTION, ...template.params } },
]
const kept = (template: Template): Template => ({ ...template, keeps: true })
const batched = (body: unknown): readonly Template[] => [{ body, uses: 'instance', leaves: ['batch'] }]
const IDS = { processInstanceIds: ['<new.pi>'] }

const LISTS = ['', 'processInstanceId=<pi.office-1>', 'processDefinitionKey=office'].map((query) => ({
  query,
}))
const POSTS = [{}, { processDefinitionKey: 'office' }, { processInstanceId: '<pi.*>' }].map((body) => ({
  body,
}))

export const runtime: Templates = {
  getProcessInstances: [
    {},
    { query: 'processDefinitionKey=office' },
    { query: 'sortBy=businessKey&sortOrder=asc&firstResult=2&maxResults=3' },
    { query: 'withIncident=true' },
    { query: 'processInstanceIds=<pi.office-1>,<pi.review-1>' },
  ],
  queryProcessInstances: [
    { body: {} },
    { body: { processDefinitionKeyIn: ['office', 'mail'] } },
    { body: { processInstanceIds: ['<pi.*>', '<pi.office-1>'] } },
    { query: 'maxResults=4', body: { sorting: [{ sortBy: 'businessKey', sortOrder: 'desc' }] } },
  ],
  getProcessInstancesCount: [{}, { query: 'processDefinitionKey=office' }, { query: 'active=true' }],
  queryProcessInstancesCount: [{ body: {} }, { body: { businessKey: 'office-1' } }],
  deleteProcessInstance: onInstance({}),
  modifyProcessInstance: [
    { params: PI, uses: 'office', body: { instructions: DESK } },
    { params: PI, uses: 'office', body: { instructions: CANCEL } },
  ],
  modifyProcessInstanceAsyncOperation: [
    { params: PI, uses: 'office', body: { instructions: DESK }, leaves: ['batch'] },
  ],
  updateSuspensionStateById: onInstance(kept({ body: { suspended: false } })),
  modifyProcessInstanceVariables: onInstance(kept({ body: MODIFIED })),
  getProcessInstanceVariable: [
    { params: { id: '<pi.office-1>', varName: 'pages' } },
    { params: { id: '<pi.*>', varName: 'colour' } },
  ],
  setProcessInstanceVariable: onInstance(kept({ params: { ...PI, varName: 'pages' }, body: VALUE })),
  deleteProcessInstanceVariable: onInstance(kept({ params: { ...PI, varName: 'nothing' } })),
  getProcessInstanceVariableBinary: [
    { params: { id: '<pi.office-1>', varName: 'file' } },
    { params: { id: '<pi.*>', varName: 'pages' } },
  ],
  setProcessInstanceVariableBinary: onInstance(
    kept({ params: { ...PI, varName: 'upload' }, form: uploadOf() }),
  ),
  deleteProcessInstancesAsyncOperation: batched({ ...IDS, deleteReason: 'test' }),
  deleteAsyncHistoricQueryBased: [
    ...batched({ ...IDS, deleteReason: 'test' }),
    { body: { historicProcessInstanceQuery: { processDefinitionKey: 'office' } }, leaves: ['batch'] },
  ],
  setRetriesByProcess: [
    { body: { processInstances: ['<new.pi>'], retries: 3 }, uses: 'job', leaves: ['batch'] },
    { body: { processInstanceQuery: { processDefinitionKey: 'mail' }, retries: 3 }, leaves: ['batch'] },
  ],
  setRetriesByProcessHistoricQueryBased: [
    { body: { processInstances: ['<new.pi>'], retries: 3 }, uses: 'job', leaves: ['batch'] },
  ],
  correlateMessageAsyncOperation: [
    { body: { ...IDS, messageName: 'paid' }, uses: 'waiting', leaves: ['batch'] },
  ],
  updateSuspensionState: [
    { body: { suspended: false, ...IDS }, uses: 'instance', keeps: true },
    {
      body: { suspended: false, processInstanceIds: ['<new.pi>', '<pi.office-1>'] },
      uses: 'instance',
      keeps: true,
    },
    { body: { suspended: false, processDefinitionKey: 'office' } },
    { body: { suspended: false, processDefinitionId: '<pd.office.1>' } },
    { body: { suspended: false, processInstanceQuery: { processDefinitionKey: 'office' } } },
  ],
  updateSuspensionStateAsyncOperation: batched({ ...IDS, suspended: true }),
  setVariablesAsyncOperation: batched({ ...IDS, ...VARIABLES }),
  getExecutions: LISTS,
  queryExecutions: POSTS,
  getExecutionsCount: LISTS,
  queryExecutionsCount: POSTS,
  createIncident: onExecution({ body: { incidentType: 'test', configuration: 'x', message: 'm' } }),
  getLocalExecutionVariable: [
    { params: { id: '<pi.office-1>', varName: 'pages' } },
    { params: { id: '<execution.*>', varName: 'x' } },
  ],
  getLocalExecutionVariableBinary: [
    { params: { id: '<pi.office-1>', varName: 'file' } },
    { params: { id: '<execution.*>', varName: 'x' } },
  ],
  modifyLocalExecutionVariables: onExecution(kept({ body: MODIFIED })),
  putLocalExecutionVariable: onExecution(kept({ params: { varName: 'mine' }, body: VALUE })),
  deleteLocalExecutionVariable: onExecution(kept({ params: { varName: 'nothing' } })),
  setLocalExecutionVariableBinary: onExecution(kept({ params: { varName: 'upload' }, form: uploadOf() })),
  getMessageEventSubscription: [
    { params: { id: '<execution.waiting-1.messaged>', messageName: 'paid' } },
    { params: { id: '<execution.*>', messageName: 'paid' } },
  ],
  triggerEvent: [
    { params: { id: '<new.messaged>', messageName: 'paid' }, body: VARIABLES, uses: 'waiting' },
    { params: { id: '<new.received>', messageName: 'paid' }, body: {}, uses: 'waiting' },
  ],
  signalExecution: [
    { params: { id: '<new.received>' }, body: VARIABLES, uses: 'waiting' },
    { params: { id: '<new.pi>' }, body: {}, uses: 'waiting' },
  ],
  getVariableInstances: [
    {},
    { query: 'variableName=pages' },
    { query: 'processInstanceIdIn=<pi.office-1>,<pi.*>' },
  ],
  queryVariableInstances: [{ body: {} }, { body: { taskIdIn: ['<task.*>', '<task.alone-1>'] } }],
  getVariableInstancesCount: [{}, { query: 'variableName=pages' }],
  queryVariableInstancesCount: [{ body: {} }, { body: { variableName: 'mood' } }],
  getIncidents: [{}, { query: 'incidentType=failedJob' }, { query: 'processInstanceId=<pi.broken-1>' }],
  getIncidentsCount: [{}],
  resolveIncident: [{ params: { id: '<new.incident>' }, uses: 'incident' }],
  setIncidentAnnotation: [
    { params: { id: '<new.incident>' }, body: { annotation: 'seen' }, uses: 'incident', keeps: true },
  ],
  clearIncidentAnnotation: [{ params: { id: '<new.incident>' }, uses: 'incident', keeps: true }],
  getEventSubscriptions: [{}, { query: 'eventType=message' }, { query: 'processInstanceId=<pi.waiting-1>' }],
  getEventSubscriptionsCount: [{}, { query: 'eventType=signal' }],
  deliverMessage: [
    { body: { messageName: 'paid', processInstanceId: '<new.pi>' }, uses: 'waiting' },
    { body: { messageName: 'paid', businessKey: 'new', resultEnabled: true }, uses: 'waiting' },
    { body: { messageName: 'order', businessKey: 'ordered' }, leaves: ['instance'] },
    { body: { messageName: 'nosuch' } },
    { body: { messageName: 'paid', all: true, businessKey: 'new' }, uses: 'waiting' },
  ],
  throwSignal: [
    { body: { name: 'stop' }, uses: 'signal', leaves: ['instance'] },
    { body: { name: 'stop', executionId: '<new.signalled>' }, uses: 'signal', leaves: ['instance'] },
    { body: { name: 'stop', withoutTenantId: true }, uses: 'signal', leaves: ['instance'] },
    { body: { name: 'nosuch' } },
  ],
  ...migrations(),
  executeModification: [
    { body: { ...IDS, processDefinitionId: '<pd.office.1>', instructions: DESK }, uses: 'office' },
    { body: { ...IDS, processDefinitionId: '<pd.office.1>', instructions: CANCEL }, uses: 'office' },
    {
      body: {
        processInstanceQuery: { processDefinitionId: '<pd.office.1>', businessKey: 'new' },
        processDefinitionId: '<pd.office.1>',
        instructions: DESK,
      },
      uses: 'office',
    },
  ],
  executeModificationAsync: [
    {
      body: { ...IDS, processDefinitionId: '<pd.office.1>', instructions: DESK },
      uses: 'office',
      leaves: ['batch'],
    },
  ],
  getBatches: [{}, { query: 'type=set-variables' }],
  getBatchesCount: [{}],
  getBatchStatistics: [{}],
  getBatchStatisticsCount: [{}],
  deleteBatch: [{ params: { id: '<new.batch>' }, query: 'cascade=true', uses: 'batch' }],
  updateBatchSuspensionState: [
    { params: { id: '<new.batch>' }, body: { suspended: false }, uses: 'batch', keeps: true },
  ],
}

function migrations(): Templates {
  const pair = {
    sourceProcessDefinitionId: '<pd.moving.1>',
    targetProcessDefinitionId: '<pd.moving.2>',
  }
  const instructions = [{ sourceActivityIds: ['stay'], targetActivityIds: ['stay'] }]
  const migrationPlan = { ...pair, instructions }
  const other = {
    ...migrationPlan,
    targetProcessDefinitionId: '<pd.waiting.1>',
    instructions: [{ sourceActivityIds: ['stay'], targetActivityIds: ['received'] }],
  }
  const invalid = {
    ...migrationPlan,
    instructions: [{ sourceActivityIds: ['stay'], targetActivityIds: ['no'] }],
  }
  const unknown = { ...migrationPlan, targetProcessDefinitionId: 'nosuch' }
  const query = { processInstanceQuery: { processDefinitionKey: 'moving', businessKey: 'new' } }
  const plans: readonly Template[] = [
    { body: { migrationPlan, ...IDS }, uses: 'moving' },
    { body: { migrationPlan: other, ...IDS }, uses: 'moving' },
    { body: { migrationPlan: invalid, ...IDS }, uses: 'moving' },
    { body: { migrationPlan: unknown, ...IDS }, uses: 'moving' },
    { body: { migrationPlan, ...query }, uses: 'moving' },
  ]
  return {
    executeMigrationPlan: plans,
    executeMigrationPlanAsync: plans.map((plan) => ({ ...plan, leaves: ['batch'] })),
    generateMigrationPlan: [{ body: pair }, { body: { ...pair, sourceProcessDefinitionId: '<pd.*>' } }],
    validateMigrationPlan: [{ body: migrationPlan }, { body: other }, { body: invalid }],
  }
}
