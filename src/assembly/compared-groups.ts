import type { EngineConfig } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import { OPERATIONS } from '../operations/all.ts'
import type { Pressure } from '../policy/limits/pressure.ts'
import { PRESSURE_KINDS } from '../policy/limits/pressure.ts'
import type { CompareOptions } from '../proxy/create-upstream.ts'

interface ComparedEngine {
  readonly engineConfig: Pick<EngineConfig, 'compare'>
  readonly metrics: Metrics
  readonly log: Logger
}

/** The reads whose response is the same at each node of an engine. A long poll locks tasks, and is no read. */
export const COMPARABLE: ReadonlySet<string> = new Set(
  OPERATIONS.filter(({ effect, perNode }) => effect === 'read' && perNode !== true).map(({ id }) => id),
)

/** Returns undefined if the responses of groups of nodes are not compared. */
export function compareOptionsOf(
  engine: string,
  { engineConfig: { compare }, metrics, log }: ComparedEngine,
  pressure: Pick<Pressure, 'isOver'>,
): CompareOptions | undefined {
  if (compare === null) return undefined
  const chosen = compare.operations === null ? null : new Set(compare.operations)
  return {
    rate: compare.rate,
    isCompared: (operation) => COMPARABLE.has(operation) && chosen?.has(operation) !== false,
    isOverloaded: () => PRESSURE_KINDS.some(pressure.isOver),
    onResult: (result, operation, kind) => metrics.comparedResponses({ engine, operation, result, kind }),
    onDifference: ({ operation, place, left, right, times, isConfirmed }) => {
      const found = { engine, operation, place, left, right, times }
      if (isConfirmed) log.warn(found, 'the responses of the two groups differ')
      else log.info(found, 'the responses of the two groups differed once, and were equal a moment later')
    },
  }
}
