import { z } from 'zod'
import { age } from './values.ts'

const LEAST_KEEP_MS = 60_000

/** Requests with an `Idempotency-Key`. Enabled with `cache.redis`. */
export const idempotency = z.strictObject({
  /** How long a key stands for the first request sent with it, and for its answer. */
  keep: age(LEAST_KEEP_MS).default(24 * 3_600_000),
  /** Separates gateways that share a Redis and have other engines of the same name. Danger: a change drops all keys. */
  namespace: z
    .string()
    .regex(/^[\w.-]{0,64}$/, 'up to 64 letters, digits, ., - and _')
    .default(''),
})
