import type { TagOperations } from '../table.ts'

/** Modification: 2 operations of the published API. */
export const modification = {
  executeModification: {
    route: 'POST /modification/execute',
    checks: [
      { anyOf: [
        'PROCESS_INSTANCE.UPDATE each.id',
        'PROCESS_DEFINITION.UPDATE_INSTANCE each.processDefinitionKey',
      ], each: 'modifiedInstances', denied: 403 },
      { anyOf: [
        'PROCESS_INSTANCE.DELETE each.id',
        'PROCESS_DEFINITION.DELETE_INSTANCE each.processDefinitionKey',
      ], when: 'nothing is left active', each: 'modifiedInstances', denied: 403 },
    ],
    empty: '400 InvalidRequestException: Process instance ids cannot be empty: Process instance ids is empty',
    selectors: { processInstanceQuery: 'processInstanceIds', historicProcessInstanceQuery: 'processInstanceIds' },
    crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{each.id}' because it belongs to no authenticated tenant.",
  },
  executeModificationAsync: {
    route: 'POST /modification/executeAsync',
    creates: 'answer:id',
    checks: [{ anyOf: ['BATCH.CREATE_BATCH_MODIFY_PROCESS_INSTANCES', 'BATCH.CREATE'], denied: 403 }],
    empty: '400 InvalidRequestException: Process instance ids cannot be empty: Process instance ids is empty',
    selectors: { processInstanceQuery: 'processInstanceIds', historicProcessInstanceQuery: 'processInstanceIds' },
  },
} satisfies TagOperations
