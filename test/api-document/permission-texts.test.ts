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

t.test('a text names the permissions on the same entity together', (t) => {
  for (const [id, texts] of Object.entries(CASES)) {
    const operation = OPERATIONS.find((one) => one.id === id)
    t.same(operation === undefined ? null : permissionTextsOf(operation), texts, id)
  }
  t.end()
})
