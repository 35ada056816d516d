import t from 'tap'
import { permissionTextsOf } from '../../src/api-document/permission-texts.ts'
import { OPERATIONS } from '../../src/operations/all.ts'

const CASES: Readonly<Record<string, readonly string[]>> = {
  getIdentityLinks: ['`READ` on task `{id}` or `READ_TASK` on its process definition'],
  complete: [
    '`TASK_WORK` or `UPDATE` on task `{id}`, or `TASK_WORK` or `UPDATE_TASK` on its process definition',
  ],
  setProcessInstanceVariable: [
    '`UPDATE_VARIABLE` or `UPDATE` on the process instance of the execution, or `UPDATE_INSTANCE_VARIABLE` or `UPDATE_INSTANCE` on its process definition',
  ],
  getProcessInstances: ['items: `READ` on its process instance or `READ_INSTANCE` on its process definition'],
  getProcessDefinition: ['`READ` on the process definition'],
  getProcessEngineNames: [],
}

/** Operations whose checks have conditions, or several permissions of which any is enough. */
const LIMITED: Readonly<Record<string, readonly string[]>> = {
  updateGroup: [
    '`READ` on group `{id}`',
    'if `id` is given: `UPDATE` on group `id` of the body',
    'if `id` is absent: `UPDATE` on group `{id}`',
  ],
  updateJobSuspensionState: [
    'if the job has an instance: `UPDATE` on the process instance of the job or `UPDATE_INSTANCE` on its process definition',
    'if the job has only a definition: `UPDATE` on process instance or `UPDATE_INSTANCE` on the process definition of the job',
  ],
  executeModification: [
    'for each selected process instance: `UPDATE` on this process instance or `UPDATE_INSTANCE` on its process definition',
    'for each selected process instance, if nothing is left active: `DELETE` on this process instance or `DELETE_INSTANCE` on its process definition',
  ],
  getHistoricProcessInstanceDurationReport: [
    'for each value of `processDefinitionKeyIn` in the query, if `processDefinitionKeyIn` is given: `READ_HISTORY` on this process definition',
    'for each value of `processDefinitionIdIn` in the query, if `processDefinitionIdIn` is given: `READ_HISTORY` on this process definition',
    'if no definition is given: `READ_HISTORY` on process definition `*`',
    'items: `READ_HISTORY` on process definition `*`',
  ],
  fetchAndLock: [
    'items: `READ` on its process instance or `READ_INSTANCE` on its process definition; and `UPDATE` on its process instance or `UPDATE_INSTANCE` on its process definition',
  ],
  getProcessDefinitions: [
    'items: `READ` on process definition `key` of the item; and if `startablePermissionCheck` is true: `CREATE_INSTANCE` on process definition `key` of the item',
  ],
  executeFilterCount: [
    '`READ` on filter `{id}`',
    'items: `READ` on its task or `READ_TASK` on its process definition (all items with a case are visible)',
  ],
}

function textsOf(id: string): readonly string[] | null {
  const operation = OPERATIONS.find((one) => one.id === id)
  return operation === undefined ? null : permissionTextsOf(operation)
}

t.test('a text names the permissions on the same entity together', (t) => {
  for (const [id, texts] of Object.entries(CASES)) t.same(textsOf(id), texts, id)
  t.end()
})

t.test('a condition comes first, and an "and" between permissions is told from an "or"', (t) => {
  for (const [id, texts] of Object.entries(LIMITED)) t.same(textsOf(id), texts, id)
  t.end()
})
