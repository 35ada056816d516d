import { z } from 'zod'
import { age } from './values.ts'

const LEAST_KEEP_MS = 60_000

/** The section `idempotency`. */
export const idempotency = z.strictObject({
  keep: age(LEAST_KEEP_MS)
    .default(24 * 3_600_000)
    .describe(
      'How long an `Idempotency-Key` stands for the request that was first sent with it, and for the answer to that request.',
    ),
  namespace: z
    .string()
    .regex(/^[\w.-]{0,64}$/, 'up to 64 letters, digits, ., - and _')
    .meta({ title: 'up to 64 letters, digits, `.`, `-` and `_`' })
    .default('')
    .describe(
      'Separates gateways that share a Redis and serve different engines of the same name. ' +
        'Danger: a change forgets all keys, and a repeated request is done again. ' +
        'The same holds for another `cache.redis` and for another name of an engine.',
    ),
})
