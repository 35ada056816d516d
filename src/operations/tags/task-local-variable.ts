import type { Tag } from '../table.ts'
import { variableOperations } from '../variable-operations.ts'

/** Task Local Variable: 7 operations of the published API. */
export const taskLocalVariable = [
  variableOperations({
    path: '/task/:id/localVariables',
    entity: 'task',
    operations: {
      list: 'getTaskLocalVariables',
      modify: 'modifyTaskLocalVariables',
      get: 'getTaskLocalVariable',
      put: 'putTaskLocalVariable',
      remove: 'deleteTaskLocalVariable',
      getData: 'getTaskLocalVariableBinary',
      postData: 'setBinaryTaskLocalVariable',
    },
  }),
] satisfies Tag
