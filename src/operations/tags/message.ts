import { instancePermissions } from '../common-permissions.ts'
import type { TagOperations } from '../table.ts'

/** Message: 1 operation of the published API. */
export const message = {
  deliverMessage: {
    route: 'POST /message',
    body: 'CorrelationMessageDto',
    creates: 'answer:[].processInstance.id',
    idempotencyKey: true,
    checks: [
      { anyOf: instancePermissions('UPDATE', 'each'), each: 'correlatedExecutions', denied: 403 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], each: 'correlatedDefinitions', denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE each.processDefinitionKey'], each: 'correlatedDefinitions', denied: 403 },
    ],
  },
} satisfies TagOperations
