import type { PermissionTerm } from './notation.ts'

/* Permissions that the engine checks in many commands. One of each list is enough. */

/** To read the task of the path. */
export const READ_TASK = [
  'TASK.READ path:id',
  'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey',
] as const satisfies readonly PermissionTerm[]

/** To work on the task of the path, for example to complete it. */
export const WORK_ON_TASK = [
  'TASK.TASK_WORK path:id',
  'PROCESS_DEFINITION.TASK_WORK task.processDefinitionKey',
  'TASK.UPDATE path:id',
  'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
] as const satisfies readonly PermissionTerm[]

/** To assign the task of the path to a user or group. */
export const ASSIGN_TASK = [
  'TASK.TASK_ASSIGN path:id',
  'PROCESS_DEFINITION.TASK_ASSIGN task.processDefinitionKey',
  'TASK.UPDATE path:id',
  'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
] as const satisfies readonly PermissionTerm[]

/** Returns the permissions on the process instance of an entity, or on all instances of its definition. */
export function instancePermissions(
  permission: 'READ' | 'UPDATE' | 'DELETE',
  entity: 'each' | 'executedJob' | 'execution' | 'externalTask' | 'incident' | 'item' | 'job' | 'jobOfInstance',
): readonly PermissionTerm[] {
  const member = entity === 'item' ? 'item:' : (`${entity}.` as const)
  return [
    `PROCESS_INSTANCE.${permission} ${member}processInstanceId`,
    `PROCESS_DEFINITION.${permission}_INSTANCE ${member}processDefinitionKey`,
  ]
}
