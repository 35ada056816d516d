import { z } from 'zod'
import { time } from './config-values.ts'

const LEAST_KEEP_MS = 60_000

/** Requests with an `Idempotency-Key`. In force where `cache.redis` is set. */
export const idempotency = z
  .strictObject({
    /** How long a key stands for the request that was first sent with it, and for its answer. */
    keep: time().default(24 * 3_600_000),
    /** Parts gateways that share a Redis and stand before other engines of the same name. Danger: a change forgets all keys. */
    namespace: z
      .string()
      .regex(/^[\w.-]{0,64}$/, 'up to 64 letters, digits, ., - and _')
      .default(''),
  })
  .refine(({ keep }) => keep >= LEAST_KEEP_MS, { path: ['keep'], error: 'must be at least 1m' })
