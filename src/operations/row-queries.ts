/**
 * How the engine is asked for the rows that a caller may see, by the parameters that the query of a list and of its count
 * takes: in a query string, and under the same names in a body. A parameter that is not named here is never sent: the
 * engine passes over what it does not know, and answers everything.
 */
export interface RowQuery {
  /**
   * What visible rows are asked for by: a list of keys or ids (`keys`), once for each key (`key`: where rows have a key and a
   * tenant of their own), once for each version of a process definition (`definition`), in lists of the visible process
   * instances (`instances`), or only for single process instances (`instance`).
   */
  readonly by: 'keys' | 'key' | 'definition' | 'instances' | 'instance'
  /** Takes a list of definition keys; of ids where rows are decided by their own. */
  readonly keys?: string
  /** Takes one definition key, or one such id. */
  readonly key?: string
  /** Takes a list of definition keys whose rows are left out. */
  readonly exceptKeys?: string
  /** Takes the id of one process definition. */
  readonly definition?: string
  /** Takes a list of ids of process instances. */
  readonly instances?: string
  /** Takes a list of ids of case instances. */
  readonly cases?: string
  /** Takes the id of one process instance. */
  readonly instance?: string
  /** Parameters beside which the engine does not take `instances`. */
  readonly instancesNotWith?: readonly string[]
  /** Rows of definitions that have been deleted are still there. */
  readonly isHistory?: true
  /** `keys` and `key` do not find those rows: they ask the definition for its key. */
  readonly keysMissDeleted?: true
  /** There are rows without a process definition, and not everybody sees them. */
  readonly hasRowsOfNone?: true
  /**
   * How rows of some tenants and of none are asked for: by the lists `tenantIdIn` and the flag `withoutTenantId` in two
   * queries; in one query with a further flag; only by definitions that are of the tenant. `none`: tenants restrict nothing.
   */
  readonly tenants: 'two queries' | `include${string}WithoutTenantId` | 'definitions' | 'none'
  /**
   * Rows that everybody sees: they lack a member. By this `sortBy` they stand together, at one end of the list.
   */
  readonly rest?: { readonly member: string; readonly sortBy: string }
  /** How a GET is asked as the POST, whose lists may be longer. Absent: it has none that takes lists. */
  readonly asPost?: AsPost
  /** Without `sortBy` the engine answers rows by this member, which each row has once. Absent: rows have none. */
  readonly order?: 'id'
  /** By `sortBy`: the member of a row that has the value, where any two values are in the same order here and in a database. */
  readonly sorts?: Readonly<Record<string, { readonly member: string; readonly kind: 'id' | 'number' | 'time' }>>
}

export type SortOrder = 'asc' | 'desc'

export interface AsPost {
  /** Counts may be asked so as well. */
  readonly counts: boolean
  /** Parameters that are members of the body, with the same texts. A GET that says another is not asked so. */
  readonly texts: readonly string[]
  /** Parameters that stay in the query string. */
  readonly inQuery: readonly string[]
}

const INSTANCE_ID = { member: 'processInstanceId', kind: 'id' } as const
const EXECUTION_ID = { member: 'executionId', kind: 'id' } as const
/** Rows of no process definition. */
const OF_NONE = { member: 'processDefinitionId', sortBy: 'processDefinitionId' } as const
/** The same where only process instances are told. */
const OF_NO_INSTANCE = { member: 'processInstanceId', sortBy: 'processInstanceId' } as const
const OWN_ID = { member: 'id', kind: 'id' } as const

function timeIn(member: string) {
  return { member, kind: 'time' } as const
}

function numberIn(member: string) {
  return { member, kind: 'number' } as const
}

/** The queries that narrow, one for each kind of row. Tried on Camunda 7.22. */
export const ROW_QUERIES = {
  processInstances: {
    by: 'keys',
    keys: 'processDefinitionKeyIn',
    key: 'processDefinitionKey',
    exceptKeys: 'processDefinitionKeyNotIn',
    definition: 'processDefinitionId',
    instances: 'processInstanceIds',
    tenants: 'two queries',
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
    rest: OF_NONE,
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
    rest: OF_NONE,
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
    rest: OF_NONE,
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
    hasRowsOfNone: true,
    tenants: 'includeJobDefinitionsWithoutTenantId',
    order: 'id',
    sorts: { jobDefinitionId: OWN_ID },
  },
  variableInstances: {
    by: 'instances',
    instances: 'processInstanceIdIn',
    cases: 'caseInstanceIdIn',
    hasRowsOfNone: true,
    tenants: 'definitions',
    asPost: {
      counts: true,
      texts: ['variableName', 'variableNameLike'],
      inQuery: ['deserializeValues'],
    },
    order: 'id',
  },
  eventSubscriptions: {
    by: 'instance',
    instance: 'processInstanceId',
    hasRowsOfNone: true,
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
    rest: OF_NO_INSTANCE,
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
    rest: { member: 'processInstanceId', sortBy: 'instanceId' },
    order: 'id',
    sorts: { instanceId: INSTANCE_ID },
  },
  historicDetails: {
    by: 'instances',
    instance: 'processInstanceId',
    instances: 'processInstanceIdIn',
    isHistory: true,
    tenants: 'two queries',
    rest: OF_NO_INSTANCE,
    asPost: { counts: false, texts: [], inQuery: ['deserializeValues'] },
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
    rest: OF_NONE,
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
    rest: OF_NONE,
    order: 'id',
    sorts: { time: timeIn('time') },
  },
} as const satisfies Readonly<Record<string, RowQuery>>

export type RowQueryName = keyof typeof ROW_QUERIES
