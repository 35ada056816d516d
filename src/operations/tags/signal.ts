import { instancePermissions } from '../common-permissions.ts'
import type { TagOperations } from '../table.ts'

/** Signal: 1 operation of the published API. */
export const signal = {
  throwSignal: {
    route: 'POST /signal',
    idempotencyKey: true,
    body: 'SignalDto',
    checks: [
      { anyOf: instancePermissions('UPDATE', 'each'), each: 'signalSubscriptions', denied: 403 },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], when: 'body:executionId absent', each: 'signalStarts', denied: 403 },
      { anyOf: [
        'PROCESS_DEFINITION.CREATE_INSTANCE each.processDefinitionKey',
      ], when: 'body:executionId absent', each: 'signalStarts', denied: 403 },
    ],
  },
} satisfies TagOperations
