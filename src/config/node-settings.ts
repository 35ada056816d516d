import { z } from 'zod'
import { decimal, httpUrl, time } from './values.ts'

const LEAST_INTERVAL_MS = 500
/** A timer can wait for a tenth more, as jitter needs. */
const LONGEST_INTERVAL_MS = 500 * 3_600_000

/** A plain URL is a node with default settings. */
export const node = z
  .union(
    [
      httpUrl,
      z.strictObject({
        url: httpUrl,
        /** Its share of the requests relative to the other nodes. */
        weight: decimal(0.1, 100).default(1),
        /** It gets no new requests, whatever the state of the others. */
        drain: z.boolean().default(false),
      }),
    ],
    'a URL or { url, weight, drain } is needed',
  )
  .transform((value) => (typeof value === 'string' ? { url: value, weight: 1, drain: false } : value))

/** How the gateway checks the health of nodes, beside the results of requests. */
export const health = z
  .strictObject({
    /** Asks every node for the names of its engines; off: only requests show the health. */
    probe: z.boolean().default(true),
    interval: time(LEAST_INTERVAL_MS).default(5000),
    /** For the complete answer to a probe. */
    timeout: time().default(2000),
  })
  .refine(({ interval }) => interval <= LONGEST_INTERVAL_MS, {
    path: ['interval'],
    error: 'must be at most 500h',
  })
