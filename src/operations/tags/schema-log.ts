import type { TagOperations } from '../table.ts'

/** Schema Log: 2 operations of the published API. */
export const schemaLog = {
  getSchemaLog: {
    route: 'GET /schema/log',
    query: 'SchemaLogQuery',
    paging: true,
    checks: [{ admin: true, anyOf: ['SYSTEM.READ'], denied: 'empty' }],
  },
  querySchemaLog: {
    route: 'POST /schema/log',
    effect: 'read',
    paging: true,
    checks: [{ admin: true, anyOf: ['SYSTEM.READ'], denied: 'empty' }],
  },
} satisfies TagOperations
