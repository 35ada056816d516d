import type { Operation } from './table.ts'

/** The ceilings, from the lowest to the highest. Each permits everything that a lower one permits. */
export const CEILINGS = ['read', 'safe', 'all'] as const

/**
 * The most that a caller may do, whatever the authorization records grant:
 * - `read`: operations that only read.
 * - `safe`: also the writes in `SAFE_WRITES`.
 * - `all`: every operation.
 */
export type Ceiling = (typeof CEILINGS)[number]

/**
 * The writes that the ceiling `safe` permits: the daily work on one task, one instance or one external task. None of them
 * deploys, deletes, migrates or modifies, changes permissions or identities, or changes many entities by a query or by a list of ids.
 * A write that is missing here is permitted only without a ceiling. docs/operations.md shows the lowest ceiling of every operation.
 */
export const SAFE_WRITES: ReadonlySet<string> = new Set([
  // Start and continue instances.
  'startProcessInstance',
  'startProcessInstanceByKey',
  'startProcessInstanceByKeyAndTenantId',
  'submitForm',
  'submitFormByKey',
  'submitFormByKeyAndTenantId',
  'deliverMessage',
  'throwSignal',
  'evaluateCondition',
  'signalExecution',
  'triggerEvent',
  // Work on a task.
  'createTask',
  'updateTask',
  'claim',
  'unclaim',
  'setAssignee',
  'delegateTask',
  'resolve',
  'complete',
  'submit',
  'handleBpmnError',
  'handleEscalation',
  'addIdentityLink',
  'createComment',
  'addAttachment',
  // Set one variable. The operations that change several variables at once can also delete variables.
  'setProcessInstanceVariable',
  'setProcessInstanceVariableBinary',
  'putLocalExecutionVariable',
  'setLocalExecutionVariableBinary',
  'putTaskVariable',
  'setBinaryTaskVariable',
  'putTaskLocalVariable',
  'setBinaryTaskLocalVariable',
  // Work on external tasks. Fetching locks the tasks.
  'fetchAndLock',
  'lock',
  'unlock',
  'extendLock',
  'completeExternalTaskResource',
  'handleFailure',
  'handleExternalTaskBpmnError',
  'setExternalTaskResourcePriority',
  'setExternalTaskResourceRetries',
  // Incidents. No write on jobs is safe: it may make the engine run the job, and a job of a batch may delete or migrate.
  'createIncident',
  'setIncidentAnnotation',
  // Evaluate a decision, which is recorded in the history.
  'evaluateDecisionById',
  'evaluateDecisionByKey',
  'evaluateDecisionByKeyAndTenant',
])

/**
 * A member of the body that the ceiling `safe` does not permit, by operation. With start instructions, an instance begins at any
 * activity, as after a modification.
 */
export const MEMBERS_ABOVE_SAFE: ReadonlyMap<string, string> = new Map([
  ['startProcessInstance', 'startInstructions'],
  ['startProcessInstanceByKey', 'startInstructions'],
  ['startProcessInstanceByKeyAndTenantId', 'startInstructions'],
])

/** Returns whether a ceiling permits an operation. The body may contain a member that it does not permit. */
export function ceilingPermits(ceiling: Ceiling, { id, effect }: Pick<Operation, 'id' | 'effect'>): boolean {
  if (ceiling === 'all' || effect === 'read') return true
  return ceiling === 'safe' && SAFE_WRITES.has(id)
}

/** Returns the lower of two ceilings. */
export function lowerOf(a: Ceiling, b: Ceiling): Ceiling {
  return CEILINGS.indexOf(a) <= CEILINGS.indexOf(b) ? a : b
}
