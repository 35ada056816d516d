import type { TagOperations } from '../table.ts'

/** History Cleanup: 4 operations of the published API. */
export const historyCleanup = {
  cleanupAsync: {
    route: 'POST /history/cleanup',
    creates: 'answer:id',
    body: 'none',
    checks: [{ admin: true, denied: 403 }],
  },
  getHistoryCleanupConfiguration: {
    route: 'GET /history/cleanup/configuration',
    checks: [],
  },
  findCleanupJob: {
    route: 'GET /history/cleanup/job',
    checks: [],
  },
  findCleanupJobs: {
    route: 'GET /history/cleanup/jobs',
    checks: [],
  },
} satisfies TagOperations
