/** The permissions that most resources have. */
const CRUD = { READ: 2, UPDATE: 4, CREATE: 8, DELETE: 16 } as const

/**
 * The engine's resources: their ids, their names in messages, and their permissions as bits (engine 7.22, `Resources` and
 * `Permissions`). The same bit means different permissions on different resources, so a name is only valid within its resource.
 */
export const RESOURCES = {
  APPLICATION: { id: 0, name: 'Application', permissions: { ACCESS: 32 } },
  USER: { id: 1, name: 'User', permissions: CRUD },
  GROUP: { id: 2, name: 'Group', permissions: CRUD },
  GROUP_MEMBERSHIP: { id: 3, name: 'Group membership', permissions: { CREATE: 8, DELETE: 16 } },
  AUTHORIZATION: { id: 4, name: 'Authorization', permissions: CRUD },
  FILTER: { id: 5, name: 'Filter', permissions: CRUD },
  PROCESS_DEFINITION: {
    id: 6,
    name: 'ProcessDefinition',
    permissions: {
      READ: 2,
      UPDATE: 4,
      DELETE: 16,
      RETRY_JOB: 32,
      READ_TASK: 64,
      UPDATE_TASK: 128,
      CREATE_INSTANCE: 256,
      READ_INSTANCE: 512,
      UPDATE_INSTANCE: 1024,
      DELETE_INSTANCE: 2048,
      READ_HISTORY: 4096,
      DELETE_HISTORY: 8192,
      TASK_WORK: 16384,
      TASK_ASSIGN: 32768,
      MIGRATE_INSTANCE: 65536,
      SUSPEND_INSTANCE: 131072,
      UPDATE_INSTANCE_VARIABLE: 262144,
      UPDATE_TASK_VARIABLE: 524288,
      SUSPEND: 1048576,
      READ_INSTANCE_VARIABLE: 2097152,
      READ_HISTORY_VARIABLE: 4194304,
      READ_TASK_VARIABLE: 8388608,
      UPDATE_HISTORY: 16777216,
    },
  },
  TASK: {
    id: 7,
    name: 'Task',
    permissions: {
      ...CRUD,
      UPDATE_VARIABLE: 32,
      READ_VARIABLE: 64,
      READ_HISTORY: 4096,
      TASK_WORK: 16384,
      TASK_ASSIGN: 32768,
    },
  },
  PROCESS_INSTANCE: {
    id: 8,
    name: 'ProcessInstance',
    permissions: { ...CRUD, RETRY_JOB: 32, SUSPEND: 64, UPDATE_VARIABLE: 128 },
  },
  DEPLOYMENT: { id: 9, name: 'Deployment', permissions: { READ: 2, CREATE: 8, DELETE: 16 } },
  DECISION_DEFINITION: {
    id: 10,
    name: 'DecisionDefinition',
    permissions: { READ: 2, UPDATE: 4, CREATE_INSTANCE: 256, READ_HISTORY: 4096, DELETE_HISTORY: 8192 },
  },
  TENANT: { id: 11, name: 'Tenant', permissions: CRUD },
  TENANT_MEMBERSHIP: { id: 12, name: 'TenantMembership', permissions: { CREATE: 8, DELETE: 16 } },
  BATCH: {
    id: 13,
    name: 'Batch',
    permissions: {
      ...CRUD,
      CREATE_BATCH_MIGRATE_PROCESS_INSTANCES: 32,
      CREATE_BATCH_MODIFY_PROCESS_INSTANCES: 64,
      CREATE_BATCH_RESTART_PROCESS_INSTANCES: 128,
      CREATE_BATCH_DELETE_RUNNING_PROCESS_INSTANCES: 256,
      CREATE_BATCH_DELETE_FINISHED_PROCESS_INSTANCES: 512,
      CREATE_BATCH_DELETE_DECISION_INSTANCES: 1024,
      CREATE_BATCH_SET_JOB_RETRIES: 2048,
      READ_HISTORY: 4096,
      DELETE_HISTORY: 8192,
      CREATE_BATCH_SET_EXTERNAL_TASK_RETRIES: 16384,
      CREATE_BATCH_UPDATE_PROCESS_INSTANCES_SUSPEND: 32768,
      CREATE_BATCH_SET_REMOVAL_TIME: 65536,
      CREATE_BATCH_SET_VARIABLES: 131072,
      CREATE_BATCH_CORRELATE_MESSAGE: 262144,
    },
  },
  DECISION_REQUIREMENTS_DEFINITION: { id: 14, name: 'DecisionRequirementsDefinition', permissions: { READ: 2 } },
  REPORT: { id: 15, name: 'Report', permissions: CRUD },
  DASHBOARD: { id: 16, name: 'Dashboard', permissions: CRUD },
  // The engine spells the name this way, also in its messages.
  OPERATION_LOG_CATEGORY: {
    id: 17,
    name: 'OperationLogCatgeory',
    permissions: { READ: 2, UPDATE: 4, DELETE: 16 },
  },
  OPTIMIZE: { id: 18, name: 'Optimize', permissions: { EDIT: 2, SHARE: 4 } },
  HISTORIC_TASK: { id: 19, name: 'HistoricTask', permissions: { READ: 2, READ_VARIABLE: 64 } },
  HISTORIC_PROCESS_INSTANCE: { id: 20, name: 'HistoricProcessInstance', permissions: { READ: 2 } },
  SYSTEM: { id: 21, name: 'System', permissions: { READ: 2, SET: 4, DELETE: 8 } },
} as const

export type ResourceName = keyof typeof RESOURCES

/** `TASK.READ`, `PROCESS_DEFINITION.READ_TASK`, …. A misspelt permission is a type error. */
export type PermissionName = {
  [R in ResourceName]: `${R}.${keyof (typeof RESOURCES)[R]['permissions'] & string}`
}[ResourceName]

/** Resources with their own set of permission names. All other resources share one common set, although not every name in it fits them. */
const OWN: ReadonlySet<string> = new Set([
  'BATCH',
  'HISTORIC_PROCESS_INSTANCE',
  'HISTORIC_TASK',
  'OPERATION_LOG_CATEGORY',
  'OPTIMIZE',
  'PROCESS_DEFINITION',
  'PROCESS_INSTANCE',
  'SYSTEM',
  'TASK',
] satisfies ResourceName[])

/** The common permission names, which the engine defines independently of a resource (`Permissions`). */
const COMMON: ReadonlySet<string> = new Set([
  'NONE',
  'ALL',
  'READ',
  'UPDATE',
  'CREATE',
  'DELETE',
  'ACCESS',
  'READ_TASK',
  'UPDATE_TASK',
  'CREATE_INSTANCE',
  'READ_INSTANCE',
  'UPDATE_INSTANCE',
  'DELETE_INSTANCE',
  'READ_HISTORY',
  'DELETE_HISTORY',
  'TASK_WORK',
  'TASK_ASSIGN',
  'MIGRATE_INSTANCE',
])

/** The value of `ALL`: all bits of a permission set. */
export const ALL_BITS = 2_147_483_647

/** The bits of permissions, by resource and then by permission. */
const BITS: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  Object.entries(RESOURCES).map(([resource, { permissions }]) => [
    resource,
    new Map([...Object.entries(permissions), ['ALL', ALL_BITS], ['NONE', 0]]),
  ]),
)

/** Returns the names of the permissions in a set of bits: `ALL`, or the names of the resource. */
export function permissionsIn(resource: ResourceName, bits: number): readonly string[] {
  if (bits === ALL_BITS) return ['ALL']
  const names = Object.entries(RESOURCES[resource].permissions)
  return names.filter(([, bit]) => (bits & bit) === bit).map(([name]) => name)
}

/** Returns whether a text is the name of a resource. */
export function isResource(name: string): name is ResourceName {
  return Object.hasOwn(RESOURCES, name)
}

/** Returns the bit of a permission of a resource, or `null` if the resource has no such permission. */
export function bitOf(resource: ResourceName, permission: string): number | null {
  return BITS.get(resource)?.get(permission) ?? null
}

/**
 * Returns true if the engine accepts this permission name for the resource. A resource without its own names uses the common set,
 * so the permission may belong to another resource.
 */
export function isPermissionName(resource: ResourceName | null, name: string): boolean {
  return resource !== null && OWN.has(resource) ? bitOf(resource, name) !== null : COMMON.has(name)
}
