import type { Rowset } from '../table.ts'

/** Schema Log: 2 operations of the published API, sorted by path, then method. */
export const schemaLog = {
  getSchemaLog: {
    route: 'GET /schema/log',
    query: 'SchemaLogQuery',
    checks: [{ admin: true, anyOf: ['SYSTEM.READ'], denied: 'empty' }],
    retry: 'always',
  },
  querySchemaLog: {
    route: 'POST /schema/log',
    query: 'Paging',
    checks: [{ admin: true, anyOf: ['SYSTEM.READ'], denied: 'empty' }],
    retry: 'always',
  },
} satisfies Rowset
