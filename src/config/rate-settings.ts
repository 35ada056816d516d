import { z } from 'zod'
import { age, listedName, wholeNumber } from './values.ts'

const rateMembers = {
  requests: wholeNumber(1, 1_000_000).describe(
    'Number of requests that a user may send in `per`. Used requests become available again at a constant rate.',
  ),
  per: age()
    .default(60_000)
    .refine((ms) => ms >= 1000 && ms % 1000 === 0, 'must be whole seconds')
    .meta({ title: 'duration of whole seconds' })
    .describe('The period for `requests`.'),
  burst: wholeNumber(1, 1_000_000)
    .optional()
    .describe(
      'Number of requests that a user may send at once after a pause. It must not exceed `requests`. If absent, it is equal to `requests`.',
    ),
}
const fitsRate = ({ requests, burst }: { requests: number; burst?: number | undefined }) =>
  burst === undefined || burst <= requests
const TOO_MUCH_AT_ONCE = { path: ['burst'], error: 'must not be more than requests' }
/** A rate without exceptions for single users. */
export const plainRate = z.strictObject(rateMembers).refine(fitsRate, TOO_MUCH_AT_ONCE)

/** The section `limits.rate`. */
export const rate = z
  .strictObject({
    ...rateMembers,
    users: z
      .record(
        listedName('requests and per apply to every user').min(1),
        z.union([z.literal('unlimited'), plainRate], 'unlimited or { requests, per, burst } is needed'),
      )
      .default({})
      .describe('Rates of individual users by user id. The value is a rate, or `unlimited`.'),
  })
  .refine(fitsRate, TOO_MUCH_AT_ONCE)
