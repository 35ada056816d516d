import type { Tag } from '../table.ts'
import { variableOperations } from '../variable-operations.ts'

/** Task Variable: 7 operations of the published API. */
export const taskVariable = [
  variableOperations({
    path: '/task/:id/variables',
    entity: 'task',
    operations: {
      list: 'getTaskVariables',
      modify: 'modifyTaskVariables',
      get: 'getTaskVariable',
      put: 'putTaskVariable',
      remove: 'deleteTaskVariable',
      getData: 'getTaskVariableBinary',
      postData: 'setBinaryTaskVariable',
    },
  }),
] satisfies Tag
