import { z } from 'zod'
import { time, wholeNumber } from './values.ts'

const LEAST_ROUND_MS = 10_000

/** The section `gauges` of an engine. */
export const gauges = z.strictObject({
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
