import { z } from 'zod'
import { age } from './values.ts'

const LEAST_KEEP_MS = 60_000

/** The section `idempotency`. */
export const idempotency = z.strictObject({
  keep: age(LEAST_KEEP_MS)
    .default(24 * 3_600_000)
    .describe('How long an `Idempotency-Key` is stored, together with its request and the response.'),
  namespace: z
    .string()
    .regex(/^[\w.-]{0,64}$/, 'up to 64 letters, digits, ., - and _')
    .meta({ title: 'up to 64 letters, digits, `.`, `-` and `_`' })
    .default('')
    .describe(
      'Separates gateways that share a Redis and serve different engines of the same name: their idempotency keys and their shares of groups. ' +
        'Danger: if you change it, all stored keys are lost, and a repeated request is executed again. ' +
        'The same applies if you change `cache.redis` or the name of an engine.',
    ),
})
