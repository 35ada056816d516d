import type { TagOperations } from '../table.ts'

/** Engine: 1 operation of the published API. */
export const engine = {
  getProcessEngineNames: {
    route: 'GET /engine',
    checks: [],
    handler: 'engine names',
    open: 'engines',
  },
} satisfies TagOperations
