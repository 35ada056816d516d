import type { TagOperations } from '../table.ts'

/** Version: 1 operation of the published API. */
export const version = {
  getRestAPIVersion: {
    route: 'GET /version', perNode: true,
    checks: [],
  },
} satisfies TagOperations
