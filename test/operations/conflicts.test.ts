import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'

/**
 * Operations that change only the engine's own data. Other operations run code of a process: variables of a task (listeners of `update`), other
 * variables (conditional events), the recalculation of a timer (its expression), assignments and completions.
 */
const REPEATED = [
  'clearIncidentAnnotation',
  'extendLock',
  'lock',
  'setExternalTaskResourcePriority',
  'setExternalTaskResourceRetries',
  'setExternalTaskRetries',
  'setIncidentAnnotation',
  'setJobDuedate',
  'setJobPriority',
  'setJobPriorityJobDefinition',
  'setJobRetries',
  'setJobRetriesJobDefinition',
  'unlock',
  'updateBatchSuspensionState',
  'updateJobSuspensionState',
  'updateProcessDefinitionSuspensionState',
  'updateProcessDefinitionSuspensionStateById',
  'updateProcessDefinitionSuspensionStateByKey',
  'updateProcessDefinitionSuspensionStateByKeyAndTenantId',
  'updateSuspensionState',
  'updateSuspensionStateBy',
  'updateSuspensionStateById',
  'updateSuspensionStateJobDefinition',
  'updateSuspensionStateJobDefinitions',
]

t.test('only writes that run no code of a process are retried after an optimistic locking exception', (t) => {
  const marked = OPERATIONS.filter(({ conflict }) => conflict !== undefined)
  t.same(marked.map(({ id }) => id).sort(), REPEATED)
  t.end()
})
