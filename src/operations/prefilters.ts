/**
 * The query parameters by which the gateway requests only the items that a caller may see. A list and its count accept the same
 * parameters, in a query string or under the same names in a body. The gateway never adds a parameter that is not named here,
 * because the engine ignores unknown parameters and would return all items.
 */
export interface Prefilter {
  /**
   * How visible items are requested:
   * - `keys`: with a list of keys or ids.
   * - `key`: with one query for each key. This requires that an item has its own key and tenant.
   * - `definition`: with one query for each version of a process definition.
   * - `instances`: with lists of the visible process instances.
   * - `instance`: only for single process instances.
   */
  readonly by: 'keys' | 'key' | 'definition' | 'instances' | 'instance'
  /** The parameter for a list of definition keys, or for a list of ids if items are decided by their own id. */
  readonly keys?: string
  /** The parameter for one definition key, or for one id if items are decided by their own id. */
  readonly key?: string
  /** The parameter for a list of definition keys whose items are excluded. */
  readonly exceptKeys?: string
  /** The parameter for the id of one process definition. */
  readonly definition?: string
  /** The parameter for the owner of items. Owners see their items without a record. */
  readonly owner?: string
  /** The parameter for a list of process instance ids. */
  readonly instances?: string
  /** The parameter for a list of case instance ids. */
  readonly cases?: string
  /** The parameter for the id of one process instance. */
  readonly instance?: string
  /** Parameters that the engine does not accept together with `instances`. */
  readonly instancesNotWith?: readonly string[]
  /** The list still contains items of deleted definitions. */
  readonly isHistory?: true
  /** `keys` and `key` do not find items of deleted definitions, because the engine reads the key from the definition. */
  readonly keysMissDeleted?: true
  /** The list contains items without a process definition, and not every caller may see them. */
  readonly hasItemsOfNone?: true
  /**
   * How items of some tenants and items without a tenant are requested:
   * - `two queries`: one query with the list `tenantIdIn`, and one with the flag `withoutTenantId`.
   * - `include…WithoutTenantId`: one query with `tenantIdIn` and this flag.
   * - `definitions`: only by the definitions of the tenants.
   * - `none`: tenants do not restrict these items.
   */
  readonly tenants: 'two queries' | `include${string}WithoutTenantId` | 'definitions' | 'none'
  /**
   * Items that every caller sees, because they lack the member `member`. Sorting by `sortBy` places all of them at one end of the list.
   */
  readonly nullGroup?: { readonly member: string; readonly sortBy: string }
  /** How a GET is sent as the corresponding POST, which accepts longer lists. Absent if no POST accepts the lists. */
  readonly postForm?: PostForm
  /** The member by which the engine sorts if the query has no `sortBy`. Its value is unique for each item. Absent if items have no such member. */
  readonly order?: 'id'
  /** The member that contains the sorted value, by `sortBy`. The gateway and every database must sort its values in the same order. */
  readonly sorts?: Readonly<Record<string, { readonly member: string; readonly kind: 'id' | 'number' | 'time' }>>
}

export type SortOrder = 'asc' | 'desc'

export interface PostForm {
  /** Counts may be sent as a POST as well. */
  readonly counts: boolean
  /** Parameters that become members of the body, with the same text. A GET with any other parameter is not sent as a POST. */
  readonly texts: readonly string[]
  /** Parameters that stay in the query string. */
  readonly inQuery: readonly string[]
}

const INSTANCE_ID = { member: 'processInstanceId', kind: 'id' } as const
const EXECUTION_ID = { member: 'executionId', kind: 'id' } as const
/** Items without a process definition. */
const OF_NONE = { member: 'processDefinitionId', sortBy: 'processDefinitionId' } as const
/** Items without a process definition, in lists whose items name only their process instance. */
const OF_NO_INSTANCE = { member: 'processInstanceId', sortBy: 'processInstanceId' } as const
const OWN_ID = { member: 'id', kind: 'id' } as const

function timeIn(member: string) {
  return { member, kind: 'time' } as const
}

function numberIn(member: string) {
  return { member, kind: 'number' } as const
}

/** The queries that return only visible items, one for each kind of item. Tested on Camunda 7.22. */
export const PREFILTERS = {
  processInstances: {
    by: 'keys',
    keys: 'processDefinitionKeyIn',
    key: 'processDefinitionKey',
    exceptKeys: 'processDefinitionKeyNotIn',
    definition: 'processDefinitionId',
    instances: 'processInstanceIds',
    tenants: 'two queries',
    postForm: {
      counts: true,
      texts: [
        'businessKey',
        'businessKeyLike',
        'caseInstanceId',
        'deploymentId',
        'incidentId',
        'incidentMessage',
        'incidentMessageLike',
        'incidentType',
        'processDefinitionId',
        'processDefinitionKey',
        'sortBy',
        'sortOrder',
        'subCaseInstance',
        'subProcessInstance',
        'superCaseInstance',
        'superProcessInstance',
      ],
      inQuery: [],
    },
    order: 'id',
    sorts: { instanceId: OWN_ID },
  },
  processDefinitions: {
    by: 'keys',
    keys: 'keysIn',
    key: 'key',
    tenants: 'includeProcessDefinitionsWithoutTenantId',
    order: 'id',
  },
  decisionDefinitions: {
    by: 'key',
    key: 'key',
    tenants: 'includeDecisionDefinitionsWithoutTenantId',
    order: 'id',
  },
  decisionRequirementsDefinitions: {
    by: 'key',
    key: 'key',
    tenants: 'includeDecisionRequirementsDefinitionsWithoutTenantId',
    order: 'id',
  },
  cleanableProcessInstances: { by: 'keys', keys: 'processDefinitionKeyIn', tenants: 'two queries' },
  cleanableDecisionInstances: { by: 'keys', keys: 'decisionDefinitionKeyIn', tenants: 'two queries' },
  identities: { by: 'keys', keys: 'idIn', key: 'id', tenants: 'none', order: 'id' },
  filters: { by: 'key', key: 'filterId', owner: 'owner', tenants: 'none', order: 'id', sorts: { filterId: OWN_ID } },
  historicProcessInstances: {
    by: 'keys',
    keys: 'processDefinitionKeyIn',
    key: 'processDefinitionKey',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    isHistory: true,
    keysMissDeleted: true,
    tenants: 'two queries',
    order: 'id',
    sorts: {
      instanceId: OWN_ID,
      startTime: timeIn('startTime'),
      endTime: timeIn('endTime'),
      duration: numberIn('durationInMillis'),
    },
  },
  historicIncidents: {
    by: 'keys',
    keys: 'processDefinitionKeyIn',
    key: 'processDefinitionKey',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    isHistory: true,
    tenants: 'two queries',
    nullGroup: OF_NONE,
    order: 'id',
    sorts: {
      incidentId: OWN_ID,
      createTime: timeIn('createTime'),
      endTime: timeIn('endTime'),
      executionId: EXECUTION_ID,
      processInstanceId: INSTANCE_ID,
    },
  },
  historicDecisionInstances: {
    by: 'keys',
    keys: 'decisionDefinitionKeyIn',
    key: 'decisionDefinitionKey',
    tenants: 'two queries',
    order: 'id',
    sorts: { evaluationTime: timeIn('evaluationTime') },
  },
  executions: {
    by: 'definition',
    key: 'processDefinitionKey',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    tenants: 'definitions',
    order: 'id',
    sorts: { instanceId: INSTANCE_ID },
  },
  externalTasks: {
    by: 'definition',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    instances: 'processInstanceIdIn',
    tenants: 'definitions',
    order: 'id',
    sorts: { id: OWN_ID, processInstanceId: INSTANCE_ID, taskPriority: numberIn('priority') },
  },
  incidents: {
    by: 'definition',
    keys: 'processDefinitionKeyIn',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    tenants: 'definitions',
    nullGroup: OF_NONE,
    order: 'id',
    sorts: {
      incidentId: OWN_ID,
      incidentTimestamp: timeIn('incidentTimestamp'),
      executionId: EXECUTION_ID,
      processInstanceId: INSTANCE_ID,
    },
  },
  jobs: {
    by: 'key',
    key: 'processDefinitionKey',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    instances: 'processInstanceIds',
    instancesNotWith: ['jobId', 'jobIds', 'jobDefinitionId', 'activityId', 'processInstanceId'],
    tenants: 'includeJobsWithoutTenantId',
    nullGroup: OF_NONE,
    order: 'id',
    sorts: {
      jobId: OWN_ID,
      executionId: EXECUTION_ID,
      processInstanceId: INSTANCE_ID,
      jobPriority: numberIn('priority'),
    },
  },
  jobDefinitions: {
    by: 'key',
    key: 'processDefinitionKey',
    definition: 'processDefinitionId',
    hasItemsOfNone: true,
    tenants: 'includeJobDefinitionsWithoutTenantId',
    order: 'id',
    sorts: { jobDefinitionId: OWN_ID },
  },
  variableInstances: {
    by: 'instances',
    instances: 'processInstanceIdIn',
    cases: 'caseInstanceIdIn',
    hasItemsOfNone: true,
    tenants: 'definitions',
    postForm: {
      counts: true,
      texts: ['variableName', 'variableNameLike'],
      inQuery: ['deserializeValues'],
    },
    order: 'id',
  },
  eventSubscriptions: {
    by: 'instance',
    instance: 'processInstanceId',
    hasItemsOfNone: true,
    tenants: 'includeEventSubscriptionsWithoutTenantId',
    order: 'id',
    sorts: { created: timeIn('createdDate') },
  },
  historicActivityInstances: {
    by: 'definition',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    isHistory: true,
    tenants: 'two queries',
    order: 'id',
    sorts: {
      activityInstanceId: OWN_ID,
      executionId: EXECUTION_ID,
      instanceId: INSTANCE_ID,
      startTime: timeIn('startTime'),
      endTime: timeIn('endTime'),
      duration: numberIn('durationInMillis'),
    },
  },
  historicTasks: {
    by: 'definition',
    key: 'processDefinitionKey',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    isHistory: true,
    keysMissDeleted: true,
    tenants: 'two queries',
    nullGroup: OF_NO_INSTANCE,
    order: 'id',
    sorts: {
      taskId: OWN_ID,
      executionId: EXECUTION_ID,
      processInstanceId: INSTANCE_ID,
      startTime: timeIn('startTime'),
      endTime: timeIn('endTime'),
      duration: numberIn('duration'),
      priority: numberIn('priority'),
    },
  },
  historicVariableInstances: {
    by: 'key',
    key: 'processDefinitionKey',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    isHistory: true,
    tenants: 'two queries',
    nullGroup: { member: 'processInstanceId', sortBy: 'instanceId' },
    order: 'id',
    sorts: { instanceId: INSTANCE_ID },
  },
  historicDetails: {
    by: 'instances',
    instance: 'processInstanceId',
    instances: 'processInstanceIdIn',
    isHistory: true,
    tenants: 'two queries',
    nullGroup: OF_NO_INSTANCE,
    postForm: { counts: false, texts: [], inQuery: ['deserializeValues'] },
    order: 'id',
    sorts: { processInstanceId: INSTANCE_ID, time: timeIn('time') },
  },
  historicJobLogs: {
    by: 'definition',
    key: 'processDefinitionKey',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    isHistory: true,
    tenants: 'two queries',
    nullGroup: OF_NONE,
    order: 'id',
    sorts: {
      timestamp: timeIn('timestamp'),
      jobId: { member: 'jobId', kind: 'id' },
      executionId: EXECUTION_ID,
      processInstanceId: INSTANCE_ID,
      jobPriority: numberIn('jobPriority'),
    },
  },
  historicExternalTaskLogs: {
    by: 'key',
    key: 'processDefinitionKey',
    definition: 'processDefinitionId',
    instance: 'processInstanceId',
    isHistory: true,
    tenants: 'two queries',
    order: 'id',
    sorts: {
      timestamp: timeIn('timestamp'),
      externalTaskId: { member: 'externalTaskId', kind: 'id' },
      executionId: EXECUTION_ID,
      processInstanceId: INSTANCE_ID,
      priority: numberIn('priority'),
    },
  },
  historicIdentityLinks: {
    by: 'key',
    key: 'processDefinitionKey',
    definition: 'processDefinitionId',
    isHistory: true,
    tenants: 'two queries',
    nullGroup: OF_NONE,
    order: 'id',
    sorts: { time: timeIn('time') },
  },
} as const satisfies Readonly<Record<string, Prefilter>>

export type PrefilterName = keyof typeof PREFILTERS

/** Returns the prefilter with this name, or null if `PREFILTERS` has none. */
export function prefilterOf(name = ''): Prefilter | null {
  return isPrefilterName(name) ? PREFILTERS[name] : null
}

function isPrefilterName(name: string): name is PrefilterName {
  return Object.hasOwn(PREFILTERS, name)
}
