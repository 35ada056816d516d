import { z } from 'zod'
import { time, wholeNumber } from './values.ts'

const LEAST_ROUND_MS = 10_000

/** The section `gauges` of an engine. */
export const gauges = z.strictObject({
  every: time(LEAST_ROUND_MS)
    .default(60_000)
    .describe(
      'From one round of questions to the next. An engine is asked once a second at most: a round of nine questions, and up to three more for each topic, takes as many seconds.',
    ),
  topics: wholeNumber(0, 500)
    .default(20)
    .describe(
      'Topics of external tasks with numbers of their own, the first by name; the others are `_other`.',
    ),
  definitions: wholeNumber(0, 5000)
    .default(100)
    .describe(
      'Process definition keys with numbers of their own, those with the most running instances; the others are `_other`.',
    ),
})
