/**
 * Handlers of jobs without a process definition that a secured engine runs for everybody who executes such a job: they
 * ask for no permission (Camunda 7.22, seen running).
 */
export const OPEN_COMMANDS = [
  'batch-monitor-job',
  'batch-seed-job',
  'batch-set-removal-time',
  'decision-set-removal-time',
  'history-cleanup',
  'process-set-removal-time',
] as const

/** Handlers that ask for permissions of the caller who executes the job. Run by the engine itself they ask for none. */
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

/** The command of a job that nothing at the engine tells. */
export const UNKNOWN_COMMAND = 'unknown'

export const KNOWN_COMMANDS: ReadonlySet<string> = new Set([...OPEN_COMMANDS, ...CHECKED_COMMANDS])
