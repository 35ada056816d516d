import type { Logger } from '../log.ts'
import type { JsonResponse } from '../metrics/admin-listener.ts'
import { type ServingProcesses, SHIFT } from './questions.ts'

/** Changes or reports the distribution between two groups of nodes in all processes. `change` is not checked yet. */
export type ChangeShift = (change: unknown) => Promise<JsonResponse>

interface ChangeShiftOptions {
  readonly processes: ServingProcesses
  readonly log: Pick<Logger, 'info'>
}

export function createChangeShift({ processes, log }: ChangeShiftOptions): ChangeShift {
  return async function shift(change) {
    const results = await processes.askEach(SHIFT, change)
    const failed = results.find((result) => 'problem' in result)
    if (failed !== undefined) return { status: 400, value: { error: failed.problem } }
    const reports = results.filter((result) => 'reads' in result)
    // A process whose requests have returned has other shares than the others.
    const report =
      reports.find(({ returned, refused }) => returned !== null || refused !== null) ?? reports[0]
    if (report === undefined || reports.length < processes.configured)
      return {
        status: 503,
        value: { error: `Only ${reports.length} of ${processes.configured} processes responded`, ...report },
      }
    log.info({ ...report, processes: reports.length, change: change ?? {} }, 'shift requested')
    return { status: 200, value: report }
  }
}
