import type { LookupName } from '../../../operations/lookup-name.ts'

export interface LookupRule {
  /** Of an encoded id; of a composite one, its encoded parts with `/` between them. */
  readonly path: (id: string) => string
  /** Members of the answer that are facts as they stand. */
  readonly members: readonly string[]
  /** The member that names the process definition, where the answer has its id and not its key. */
  readonly definition?: string
  /** The member that names the process instance whose definition counts, where the answer has no key itself. */
  readonly instance?: string
  /** The member that names the process definition whose tenant counts, where the answer has none itself. */
  readonly tenant?: string
  /** The fact `command`: what a job without a definition does. */
  readonly command?: true
}

const KEYED = ['processDefinitionKey', 'processInstanceId'] as const

function ofTenant(id: string): string {
  return id.replace('/', '/tenant-id/')
}

function messageSubscriptionsOf(id: string): string {
  const [executionId, name] = id.split('/')
  return `/event-subscription?eventType=message&executionId=${executionId}&eventName=${name}`
}

/** How each entity is found at the engine. */
export const LOOKUPS: Readonly<Record<LookupName, LookupRule>> = {
  authorization: { path: (id) => `/authorization/${id}`, members: [] },
  batch: { path: (id) => `/batch/${id}`, members: ['tenantId'] },
  decisionDefinition: { path: (id) => `/decision-definition/${id}`, members: ['key', 'tenantId'] },
  decisionDefinitionOfKey: {
    path: (id) => `/decision-definition/key/${ofTenant(id)}`,
    members: ['tenantId'],
  },
  decisionRequirementsDefinition: {
    path: (id) => `/decision-requirements-definition/${id}`,
    members: ['key', 'tenantId'],
  },
  decisionRequirementsDefinitionOfKey: {
    path: (id) => `/decision-requirements-definition/key/${ofTenant(id)}`,
    members: ['tenantId'],
  },
  deployment: { path: (id) => `/deployment/${id}`, members: ['tenantId'] },
  executedJob: { path: (id) => `/job/${id}`, members: [...KEYED, 'tenantId'], command: true },
  execution: {
    path: (id) => `/execution/${id}`,
    members: ['processInstanceId', 'tenantId'],
    instance: 'processInstanceId',
  },
  externalTask: { path: (id) => `/external-task/${id}`, members: [...KEYED, 'tenantId', 'workerId'] },
  group: { path: (id) => `/group/${id}`, members: [] },
  historicActivityInstance: {
    path: (id) => `/history/activity-instance/${id}`,
    members: [...KEYED, 'tenantId'],
  },
  historicBatch: { path: (id) => `/history/batch/${id}`, members: ['tenantId'] },
  historicDecisionInstance: {
    path: (id) =>
      `/history/decision-instance/${id}?disableBinaryFetching=true&disableCustomObjectDeserialization=true`,
    members: ['decisionDefinitionKey', 'tenantId'],
  },
  historicDetail: {
    path: (id) => `/history/detail/${id}?deserializeValue=false`,
    members: [...KEYED, 'executionId', 'taskId', 'tenantId'],
  },
  historicExternalTaskLog: {
    path: (id) => `/history/external-task-log/${id}`,
    members: [...KEYED, 'tenantId'],
  },
  historicJobLog: { path: (id) => `/history/job-log/${id}`, members: [...KEYED, 'tenantId'] },
  historicProcessInstance: {
    path: (id) => `/history/process-instance/${id}`,
    members: ['processDefinitionKey', 'processDefinitionId', 'endTime', 'tenantId'],
  },
  historicTask: {
    path: (id) => `/history/task?taskId=${id}`,
    members: [...KEYED, 'executionId', 'tenantId'],
  },
  historicVariableInstance: {
    path: (id) => `/history/variable-instance/${id}?deserializeValue=false`,
    members: [...KEYED, 'executionId', 'taskId', 'tenantId'],
  },
  incident: {
    path: (id) => `/incident/${id}`,
    members: ['processInstanceId', 'tenantId', 'incidentType'],
    definition: 'processDefinitionId',
  },
  job: { path: (id) => `/job/${id}`, members: [...KEYED, 'tenantId'] },
  jobDefinition: {
    path: (id) => `/job-definition/${id}`,
    members: ['processDefinitionKey', 'processDefinitionId', 'tenantId'],
  },
  jobOfInstance: {
    path: (id) => `/job/${id}`,
    members: [...KEYED, 'tenantId'],
    instance: 'processInstanceId',
  },
  messageSubscription: { path: messageSubscriptionsOf, members: ['tenantId'] },
  operationLogEntry: {
    path: (id) => `/history/user-operation?operationId=${id}`,
    members: ['id', 'processDefinitionKey', 'category'],
    tenant: 'processDefinitionId',
  },
  processDefinition: {
    path: (id) => `/process-definition/${id}`,
    members: ['key', 'tenantId', 'deploymentId'],
  },
  processDefinitionOfKey: {
    path: (id) => `/process-definition/key/${ofTenant(id)}`,
    members: ['tenantId', 'deploymentId'],
  },
  processInstance: {
    path: (id) => `/process-instance/${id}`,
    members: ['definitionId', 'tenantId'],
    definition: 'definitionId',
  },
  task: {
    path: (id) => `/task/${id}`,
    members: ['processInstanceId', 'caseExecutionId', 'tenantId'],
    definition: 'processDefinitionId',
  },
  tenant: { path: (id) => `/tenant/${id}`, members: [] },
  user: { path: (id) => `/user/${id}/profile`, members: [] },
  variableInstance: {
    path: (id) => `/variable-instance/${id}?deserializeValue=false`,
    members: ['processInstanceId', 'taskId', 'tenantId'],
    instance: 'processInstanceId',
  },
}

/** Entities that several path parameters name together. */
export const COMPOSITES: Readonly<Partial<Record<LookupName, readonly string[]>>> = {
  decisionDefinitionOfKey: ['key', 'tenantId'],
  decisionRequirementsDefinitionOfKey: ['key', 'tenantId'],
  messageSubscription: ['id', 'messageName'],
  processDefinitionOfKey: ['key', 'tenantId'],
}

/** Whether a look-up gives an attribute. */
export function hasMember(lookup: LookupName, attribute: string): boolean {
  const { members, definition, instance, tenant, command } = LOOKUPS[lookup]
  if (members.includes(attribute)) return true
  if (attribute === 'processDefinitionKey') return (definition ?? instance) !== undefined
  return attribute === 'tenantId' ? tenant !== undefined : attribute === 'command' && command === true
}

/** Whether a look-up says whose tenant the entity is. */
export function hasTenant({ lookup }: { readonly lookup: LookupName }): boolean {
  return hasMember(lookup, 'tenantId')
}

export function isLookup(text: string): text is LookupName {
  return Object.hasOwn(LOOKUPS, text)
}
