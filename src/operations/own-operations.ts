import { operationsOf } from './compile-table.ts'
import type { Operation } from './table.ts'

/**
 * Operations of the gateway itself, which describe the API. They exist only if `apiDocument` is configured. They pass the same stages as
 * the operations of the table.
 */
export const OWN_OPERATIONS: readonly Operation[] = operationsOf({
  apiDocument: {
    getApiDocument: {
      route: 'GET /openapi.json',
      only: 'unpublished',
      checks: [{ admin: true, when: 'query:full given', denied: 403 }],
      handler: 'api document',
    },
    getApiPage: {
      route: 'GET /docs',
      only: 'unpublished',
      checks: [{ admin: true, when: 'query:full given', denied: 403 }],
      handler: 'api page',
    },
  },
})
