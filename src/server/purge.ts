import type { Logger } from '../log.ts'
import type { JsonResponse } from '../metrics/admin-listener.ts'
import type { Metrics } from '../metrics/registry.ts'
import { WORST_FIRST } from '../status/process-status.ts'
import { PURGE, type ServingProcesses } from './questions.ts'

/** Removes cached responses from all processes, and from Redis with the caches of other replicas. `selection` is not checked yet. */
export type Purge = (selection: unknown) => Promise<JsonResponse>

interface PurgeOptions {
  readonly processes: ServingProcesses
  readonly metrics: Pick<Metrics, 'cachePurge'>
  readonly log: Pick<Logger, 'info'>
}

export function createPurge({ processes, metrics, log }: PurgeOptions): Purge {
  return async function purge(selection) {
    const results = await processes.askEach(PURGE, selection)
    const refused = results.find((result) => 'problem' in result)
    if (refused !== undefined) {
      metrics.cachePurge({ result: 'refused' })
      return { status: 400, value: { error: refused.problem } }
    }
    const done = results.filter((result) => 'evicted' in result)
    const isComplete = done.length >= processes.configured
    const value = {
      evicted: done.reduce((sum, { evicted }) => sum + evicted, 0),
      processes: done.length,
      redis: WORST_FIRST.find((state) => done.some(({ redis }) => redis === state)) ?? 'unknown',
    }
    metrics.cachePurge({ result: isComplete ? 'purged' : 'incomplete' })
    log.info({ ...value, of: processes.configured, selection: selection ?? {} }, 'cache purged')
    return isComplete
      ? { status: 200, value }
      : {
          status: 503,
          value: { error: `Only ${done.length} of ${processes.configured} processes responded`, ...value },
        }
  }
}
