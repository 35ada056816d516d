import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'

/**
 * They touch the engine's own data alone. Not among them, for they run code of a process: variables of a task (listeners of
 * `update`), other variables (conditional events), a timer's recalculation (its expression), assignments, completions.
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

t.test('what is sent again after a lost race is what runs no code of a process', (t) => {
  const marked = OPERATIONS.filter(({ conflict }) => conflict !== undefined)
  t.same(marked.map(({ id }) => id).sort(), REPEATED)
  t.end()
})
