import type { Rowset } from '../table.ts'

/** Version: 1 operation of the published API, sorted by path, then method. */
export const version = {
  getRestAPIVersion: {
    route: 'GET /version',
    checks: [],
  },
} satisfies Rowset
