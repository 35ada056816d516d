import type { LookupName } from '../../../operations/lookup-name.ts'
import type { ItemShape } from './lookup-response.ts'

export interface LookupRule {
  /** Returns the path for an encoded id. A composite id consists of encoded parts with `/` between them. */
  readonly path: (id: string) => string
  /** The members of the response that are attributes without conversion. */
  readonly members: readonly string[]
  /** The members that the engine never writes as null. Default: each of them may be null. */
  readonly texts?: readonly string[]
  /** The members that name the entity, in the order of the parts of the id. Default: `id`. */
  readonly namedBy?: readonly string[]
  /** The response is a list, and the id names all of its items. Default: the response is the entity. */
  readonly isList?: true
  /** The member with the id of the process definition, if the response does not contain the key. */
  readonly definition?: string
  /** The member that names the process instance whose definition counts, if the response does not contain the key. */
  readonly instance?: string
  /** Whether the items are entries of the operation log, whose tenant is that of the entities that they name. */
  readonly isLog?: true
  /** Whether the lookup returns the attribute `command`: the command of a job without a definition. */
  readonly command?: true
}

const KEYED = ['processDefinitionKey', 'processInstanceId'] as const
const OF_KEY = ['key', 'tenantId'] as const

function ofTenant(id: string): string {
  return id.replace('/', '/tenant-id/')
}

function messageSubscriptionsOf(id: string): string {
  const [executionId, name] = id.split('/')
  return `/event-subscription?eventType=message&executionId=${executionId}&eventName=${name}`
}

/** How each entity is found in the engine. */
export const LOOKUPS: Readonly<Record<LookupName, LookupRule>> = {
  authorization: { path: (id) => `/authorization/${id}`, members: [] },
  batch: { path: (id) => `/batch/${id}`, members: ['tenantId'] },
  decisionDefinition: {
    path: (id) => `/decision-definition/${id}`,
    members: ['key', 'tenantId'],
    texts: ['key'],
  },
  decisionDefinitionOfKey: {
    path: (id) => `/decision-definition/key/${ofTenant(id)}`,
    members: ['tenantId'],
    namedBy: OF_KEY,
  },
  decisionRequirementsDefinition: {
    path: (id) => `/decision-requirements-definition/${id}`,
    members: ['key', 'tenantId'],
    texts: ['key'],
  },
  decisionRequirementsDefinitionOfKey: {
    path: (id) => `/decision-requirements-definition/key/${ofTenant(id)}`,
    members: ['tenantId'],
    namedBy: OF_KEY,
  },
  deployment: { path: (id) => `/deployment/${id}`, members: ['tenantId'] },
  executedJob: { path: (id) => `/job/${id}`, members: [...KEYED, 'tenantId'], command: true },
  execution: {
    path: (id) => `/execution/${id}`,
    members: ['processInstanceId', 'tenantId'],
    texts: ['processInstanceId'],
    instance: 'processInstanceId',
  },
  externalTask: {
    path: (id) => `/external-task/${id}`,
    members: [...KEYED, 'tenantId', 'workerId'],
    texts: KEYED,
  },
  filter: { path: (id) => `/filter/${id}`, members: ['owner'] },
  group: { path: (id) => `/group/${id}`, members: [] },
  historicActivityInstance: {
    path: (id) => `/history/activity-instance/${id}`,
    members: [...KEYED, 'tenantId'],
    texts: KEYED,
  },
  historicBatch: { path: (id) => `/history/batch/${id}`, members: ['tenantId'] },
  historicDecisionInstance: {
    path: (id) =>
      `/history/decision-instance/${id}?disableBinaryFetching=true&disableCustomObjectDeserialization=true`,
    members: ['decisionDefinitionKey', 'tenantId'],
    texts: ['decisionDefinitionKey'],
  },
  historicDetail: {
    path: (id) => `/history/detail/${id}?deserializeValue=false`,
    members: [...KEYED, 'executionId', 'taskId', 'tenantId'],
  },
  historicExternalTaskLog: {
    path: (id) => `/history/external-task-log/${id}`,
    members: [...KEYED, 'tenantId'],
    texts: KEYED,
  },
  historicIncident: {
    path: (id) => `/history/incident?incidentId=${id}`,
    isList: true,
    members: [...KEYED, 'tenantId'],
  },
  historicJobLog: { path: (id) => `/history/job-log/${id}`, members: [...KEYED, 'tenantId'] },
  historicProcessInstance: {
    path: (id) => `/history/process-instance/${id}`,
    members: ['processDefinitionKey', 'processDefinitionId', 'endTime', 'tenantId'],
    texts: ['processDefinitionKey', 'processDefinitionId'],
  },
  historicTask: {
    path: (id) => `/history/task?taskId=${id}`,
    isList: true,
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
  messageSubscription: {
    path: messageSubscriptionsOf,
    isList: true,
    members: ['tenantId'],
    namedBy: ['executionId', 'eventName'],
  },
  operationLogEntry: {
    path: (id) => `/history/user-operation?operationId=${id}`,
    isList: true,
    members: ['id', 'processDefinitionKey', 'category'],
    texts: ['id'],
    namedBy: ['operationId'],
    isLog: true,
  },
  processDefinition: {
    path: (id) => `/process-definition/${id}`,
    members: ['key', 'tenantId', 'deploymentId'],
    texts: ['key'],
  },
  processDefinitionOfKey: {
    path: (id) => `/process-definition/key/${ofTenant(id)}`,
    members: ['tenantId', 'deploymentId'],
    namedBy: OF_KEY,
  },
  processInstance: {
    path: (id) => `/process-instance/${id}`,
    members: ['definitionId', 'tenantId'],
    texts: ['definitionId'],
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

/** Returns the members that a response must have to be the entity with this id. `id` is the same as for `LookUp`. */
export function shapeOf(name: LookupName, id: string): ItemShape {
  const { members, texts = [], namedBy = ['id'] } = LOOKUPS[name]
  const { definition, instance, isLog, command } = LOOKUPS[name]
  const parts = COMPOSITES[name] === undefined ? [id] : id.split('/').map(decodeURIComponent)
  const named = Object.fromEntries(
    namedBy.flatMap((member, at) => {
      const part = parts[at]
      return part === undefined ? [] : [[member, part] as const]
    }),
  )
  const links = [definition, instance, isLog && 'processDefinitionId'].filter(
    (member) => member !== undefined,
  )
  const owners = members.filter((member) => OWNERS.has(member))
  const nullable = [...owners, ...links, ...(command === true ? COMMAND_MEMBERS : [])]
  return {
    named,
    texts,
    nullable: nullable.filter((member) => !texts.includes(member)),
  }
}

/** The members that determine the owner of an entity. Null opens the entity to every caller, so an absent member must not count as null. */
const OWNERS: ReadonlySet<string> = new Set([
  'decisionDefinitionKey',
  'key',
  'owner',
  'processDefinitionKey',
  'tenantId',
])

/** The members that determine which command a job runs. */
const COMMAND_MEMBERS = ['jobDefinitionId'] as const

/** Returns whether a lookup returns an attribute. */
export function hasMember(lookup: LookupName, attribute: string): boolean {
  const { members, definition, instance, isLog, command } = LOOKUPS[lookup]
  if (members.includes(attribute)) return true
  if (attribute === 'processDefinitionKey') return (definition ?? instance) !== undefined
  return attribute === 'tenantId' ? isLog === true : attribute === 'command' && command === true
}

/** Returns whether a lookup returns the tenant of the entity. */
export function hasTenant({ lookup }: { readonly lookup: LookupName }): boolean {
  return hasMember(lookup, 'tenantId')
}

export function isLookup(text: string): text is LookupName {
  return Object.hasOwn(LOOKUPS, text)
}
