import { z } from 'zod'
import { age } from './values.ts'

const LEAST_KEEP_MS = 60_000

/** Requests with an `Idempotency-Key`. In force where `cache.redis` is set. */
export const idempotency = z.strictObject({
  /** How long a key stands for the request that was first sent with it, and for its answer. */
  keep: age(LEAST_KEEP_MS).default(24 * 3_600_000),
  /** Parts gateways that share a Redis and stand before other engines of the same name. Danger: a change forgets all keys. */
  namespace: z
    .string()
    .regex(/^[\w.-]{0,64}$/, 'up to 64 letters, digits, ., - and _')
    .default(''),
})
