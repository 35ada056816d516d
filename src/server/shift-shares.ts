import type { Logger } from '../log.ts'
import type { JsonResponse } from '../metrics/admin-listener.ts'
import { isObject } from '../request/value.ts'
import { hasShares, type ShiftResult } from './change-shift.ts'
import { SHARES, type ServingProcesses, SHIFT } from './questions.ts'

/** Changes or reports the distribution between two groups of nodes in all processes. `change` is not checked yet. */
export type ChangeShift = (change: unknown) => Promise<JsonResponse>

interface ChangeShiftOptions {
  readonly processes: ServingProcesses
  readonly log: Pick<Logger, 'info'>
}

export function createChangeShift({ processes, log }: ChangeShiftOptions): ChangeShift {
  return async function shift(change) {
    const isChange = isObject(change) && hasShares(change)
    const failed = isChange ? await changeOnce(processes, change) : null
    if (failed !== null) return failed
    // After a change, all processes only report.
    const results = await processes.askEach(SHIFT, isChange ? { engine: change['engine'] } : change)
    const problem = problemIn(results)
    if (problem !== null) return problem
    const reports = results.filter((result) => 'reads' in result)
    // A process whose requests have returned has other shares than the others.
    const report =
      reports.find(({ finding }) => finding !== null) ??
      reports.find(({ returned, refused }) => returned !== null || refused !== null) ??
      reports.find(({ shared }) => shared === false) ??
      reports[0]
    if (report === undefined || reports.length < processes.configured)
      return {
        status: 503,
        value: { error: `Only ${reports.length} of ${processes.configured} processes responded`, ...report },
      }
    log.info({ ...report, processes: reports.length, change: change ?? {} }, 'shift requested')
    return { status: 200, value: report }
  }
}

/**
 * Changes the shares in one process, and lets the others follow. If each process changed them, each change would be another revision.
 * Returns a response if the change failed.
 */
async function changeOnce(processes: ServingProcesses, change: unknown): Promise<JsonResponse | null> {
  // The process that changes the shares must know the highest revision.
  await level(processes)
  const result = await processes.askOne(SHIFT, change)
  if (result === null) return { status: 503, value: { error: 'No process responded' } }
  const problem = problemIn([result])
  if (problem === null) await level(processes)
  return problem
}

/** Lets all processes follow the highest revision that one of them has. */
async function level(processes: ServingProcesses): Promise<void> {
  const known = (await processes.askEach(SHARES)).flat()
  await processes.askEach(SHARES, known)
}

function problemIn(results: readonly ShiftResult[]): JsonResponse | null {
  const failed = results.find((result) => 'problem' in result)
  return failed === undefined ? null : { status: 400, value: { error: failed.problem } }
}
