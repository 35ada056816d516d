import type { TagOperations } from '../table.ts'

/** Metrics: 3 operations of the published API. */
export const metrics = {
  interval: {
    route: 'GET /metrics', perNode: true,
    checks: [],
  },
  getMetrics: {
    route: 'GET /metrics/:metricsName/sum', perNode: true,
    checks: [],
  },
  deleteTaskMetrics: {
    route: 'DELETE /metrics/task-worker',
    body: 'none',
    checks: [{ admin: true, anyOf: ['SYSTEM.DELETE'], denied: 403 }],
  },
} satisfies TagOperations
