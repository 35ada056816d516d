/**
 * Handlers of jobs without a process definition that check no permission. A secured engine runs them for every caller that
 * executes such a job (observed on a running Camunda 7.22).
 */
export const OPEN_COMMANDS = [
  'batch-monitor-job',
  'batch-seed-job',
  'batch-set-removal-time',
  'decision-set-removal-time',
  'history-cleanup',
  'process-set-removal-time',
] as const

/** Handlers that check the permissions of the caller that executes the job. If the engine itself runs the job, they check none. */
export const CHECKED_COMMANDS = [
  'activate-job-definition',
  'activate-processdefinition',
  'correlate-message',
  'historic-decision-instance-deletion',
  'historic-instance-deletion',
  'instance-deletion',
  'instance-migration',
  'instance-modification',
  'instance-restart',
  'instance-update-suspension-state',
  'set-external-task-retries',
  'set-job-retries',
  'set-variables',
  'suspend-job-definition',
  'suspend-processdefinition',
] as const

export type CheckedCommand = (typeof CHECKED_COMMANDS)[number]

/** The command of a job if no data of the engine identifies it. */
export const UNKNOWN_COMMAND = 'unknown'

export const KNOWN_COMMANDS: ReadonlySet<string> = new Set([...OPEN_COMMANDS, ...CHECKED_COMMANDS])
