import { z } from 'zod'
import type { FindSectionProblems } from '../../config/engine-surroundings.ts'
import { time, wholeNumber } from '../../config/values.ts'

const LEAST_ROUND_MS = 10_000

/** The section `gauges` of an engine. */
export const gauges = z
  .strictObject({
    every: time(LEAST_ROUND_MS)
      .default(60_000)
      .describe(
        'Time from the start of one round of queries to the start of the next. The gateway sends at most one query a second to an engine. ' +
          'A round has twelve queries and up to three more for each topic, and takes about as many seconds.',
      ),
    topics: wholeNumber(0, 500)
      .default(20)
      .describe(
        'Number of external task topics with their own series, in the order of their names. The other topics are combined in the series `_other`.',
      ),
    definitions: wholeNumber(0, 5000)
      .default(100)
      .describe(
        'Number of process definition keys with their own series. The keys with the most running instances come first. ' +
          'The other keys are combined in the series `_other`.',
      ),
  })
  .nullable()
  .default(null)
  .describe(
    'Exports numbers about the engine as metrics: incidents, jobs, external tasks, running instances. ' +
      'With `cache.redis`, one of all replicas queries the engine. Without it, each replica does. `{}` enables the gauges. If null, the gateway has no gauges of this engine. ' +
      'With `credentials: forward` or `{ header }`, the gauges require `service`, because their queries have no caller.',
  )

interface GaugedSettings {
  readonly gauges: z.infer<typeof gauges>
}

/** Gauges are queried without a caller. Workers elect the one that queries them, and without Redis each worker would. */
export const gaugeProblems: FindSectionProblems<GaugedSettings> = (
  engine,
  { hasOwnCredentials, canElect },
) => {
  if (engine.gauges === null) return []
  return [
    ...(hasOwnCredentials
      ? []
      : ['service: is required if credentials is forward or { header }, and gauges is set']),
    ...(canElect ? [] : ['gauges: requires cache.redis if there are several workers']),
  ]
}
