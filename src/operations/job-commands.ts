import type { Check } from './notation.ts'

const UPDATE_INSTANCE = [
  'PROCESS_INSTANCE.UPDATE each.id',
  'PROCESS_DEFINITION.UPDATE_INSTANCE each.processDefinitionKey',
] as const
const UPDATE_ALL_INSTANCES = [
  'PROCESS_INSTANCE.UPDATE',
  'PROCESS_DEFINITION.UPDATE_INSTANCE each.processDefinitionKey',
] as const

/**
 * The permissions that a secured engine checks for the caller that executes a job without a process definition, while the job
 * runs. In most cases the entities that such a job acts on cannot be read from the engine. `each` then finds no entities, and
 * the caller needs a grant on all of them.
 */
export const COMMAND_CHECKS = [
  { anyOf: [
    'PROCESS_INSTANCE.SUSPEND each.id',
    'PROCESS_DEFINITION.SUSPEND_INSTANCE each.processDefinitionKey',
    ...UPDATE_INSTANCE,
  ], when: 'the job runs instance-update-suspension-state', each: 'jobInstances', loads: 'executedJob', denied: 403 },
  { anyOf: [
    'PROCESS_INSTANCE.DELETE each.id',
    'PROCESS_DEFINITION.DELETE_INSTANCE each.processDefinitionKey',
  ], when: 'the job runs instance-deletion', each: 'jobInstances', loads: 'executedJob', denied: 403 },
  { anyOf: [
    'PROCESS_INSTANCE.RETRY_JOB each.id',
    'PROCESS_DEFINITION.RETRY_JOB each.processDefinitionKey',
    ...UPDATE_INSTANCE,
  ], when: 'the job runs set-job-retries', each: 'jobJobs', loads: 'executedJob', denied: 403 },
  { anyOf: UPDATE_INSTANCE, when: 'the job runs instance-modification or set-external-task-retries', each: 'jobInstances', loads: 'executedJob', denied: 403 },
  // The engine checks this if the modification leaves no activity active. Only the job has this information.
  { anyOf: [
    'PROCESS_INSTANCE.DELETE each.id',
    'PROCESS_DEFINITION.DELETE_INSTANCE each.processDefinitionKey',
  ], when: 'the job runs instance-modification', each: 'jobInstances', loads: 'executedJob', denied: 403 },
  { anyOf: ['PROCESS_DEFINITION.READ_HISTORY each.processDefinitionKey'], when: 'the job runs instance-restart', each: 'jobHistoricInstances', loads: 'executedJob', denied: 403 },
  { anyOf: ['PROCESS_INSTANCE.CREATE'], when: 'the job runs instance-restart', loads: 'executedJob', denied: 403 },
  { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE each.processDefinitionKey'], when: 'the job runs instance-restart', each: 'jobHistoricInstances', loads: 'executedJob', denied: 403 },
  { anyOf: ['PROCESS_DEFINITION.DELETE_HISTORY each.processDefinitionKey'], when: 'the job runs historic-instance-deletion', each: 'jobHistoricInstances', loads: 'executedJob', denied: 403 },
  // The engine checks the permission on all decisions, regardless of the decisions that the job names. It checks no tenants.
  { anyOf: ['DECISION_DEFINITION.DELETE_HISTORY'], when: 'the job runs historic-decision-instance-deletion', loads: 'executedJob', denied: 403 },
  { anyOf: ['PROCESS_DEFINITION.MIGRATE_INSTANCE each.processDefinitionKey'], when: 'the job runs instance-migration', each: 'jobInstances', loads: 'executedJob', denied: 403 },
  { anyOf: [
    'PROCESS_INSTANCE.UPDATE_VARIABLE each.id',
    'PROCESS_DEFINITION.UPDATE_INSTANCE_VARIABLE each.processDefinitionKey',
    ...UPDATE_INSTANCE,
  ], when: 'the job runs set-variables', each: 'jobInstances', loads: 'executedJob', denied: 403, crossTenant: "404 InvalidRequestException: ENGINE-13034 Cannot update the process instance '{each.id}' because it belongs to no authenticated tenant." },
  // A secured engine skips an instance of another tenant, and the job then counts as done. An engine without authorization cannot do this.
  { anyOf: UPDATE_INSTANCE, when: 'the job runs correlate-message', each: 'jobInstances', loads: 'executedJob', denied: 403, crossTenant: 'ignored' },
  { anyOf: [
    'PROCESS_DEFINITION.SUSPEND each.processDefinitionKey',
    'PROCESS_DEFINITION.UPDATE each.processDefinitionKey',
  ], when: 'the job runs activate-processdefinition or suspend-processdefinition', each: 'jobDefinitions', loads: 'executedJob', denied: 403 },
  // The engine checks this if the instances are included. Only the job has this information.
  { anyOf: [
    'PROCESS_INSTANCE.SUSPEND',
    'PROCESS_DEFINITION.SUSPEND_INSTANCE each.processDefinitionKey',
    ...UPDATE_ALL_INSTANCES,
  ], when: 'the job runs activate-processdefinition or suspend-processdefinition', each: 'jobDefinitions', loads: 'executedJob', denied: 403 },
  { anyOf: ['PROCESS_DEFINITION.UPDATE each.processDefinitionKey'], when: 'the job runs activate-job-definition or suspend-job-definition', each: 'jobDefinitions', loads: 'executedJob', denied: 403 },
  // The engine checks this if the jobs are included. Only the job has this information.
  { anyOf: UPDATE_ALL_INSTANCES, when: 'the job runs activate-job-definition or suspend-job-definition', each: 'jobDefinitions', loads: 'executedJob', denied: 403 },
  { allOf: [
    'PROCESS_DEFINITION.SUSPEND',
    'PROCESS_DEFINITION.UPDATE',
    'PROCESS_DEFINITION.READ_HISTORY',
    'PROCESS_DEFINITION.DELETE_HISTORY',
    'PROCESS_DEFINITION.CREATE_INSTANCE',
    'PROCESS_DEFINITION.MIGRATE_INSTANCE',
    'PROCESS_INSTANCE.CREATE',
    'PROCESS_INSTANCE.UPDATE',
    'PROCESS_INSTANCE.DELETE',
    'DECISION_DEFINITION.DELETE_HISTORY',
  ], when: 'the job runs an unknown command', each: 'unknown', loads: 'executedJob', denied: 403 },
] as const satisfies readonly Check[]
