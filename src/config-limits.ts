import { z } from 'zod'
import { integer, size, time } from './config-values.ts'

const LEAST_HOLD_MS = 1000

/** Requests for work that an engine holds until there is some. */
const longPolls = z
  .strictObject({
    /** No client waits longer, whatever it asks for; the engine itself takes 30 minutes at most. */
    maxHold: time().default(1_800_000),
    /** Held by each node at once: an engine refuses polls beyond 200 that it has not looked at. */
    perNode: integer(1, 199).default(150),
    /** Of one engine, waiting in the gateway for a place at a node; more are refused with 503. */
    waiting: integer(1, 1_000_000).default(20_000),
  })
  .refine(({ maxHold }) => maxHold >= LEAST_HOLD_MS, { path: ['maxHold'], error: 'must be at least 1s' })

/** What is bounded, beside the cache. */
export const limits = z.strictObject({
  body: size().default(2 * 1024 ** 2),
  deploymentBody: size().default(64 * 1024 ** 2),
  /** Rows of one query that are read to leave out those the caller may not see; a query with more is refused. */
  filteredRows: integer(1, 1_000_000).default(10_000),
  /** Connections to each node; further requests wait for one. */
  connections: integer(1, 10_000).default(64),
  longPolls: longPolls.prefault({}),
})
