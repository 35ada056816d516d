import { z } from 'zod'
import { age, decimal, wholeNumber, size, time } from './values.ts'

const LEAST_HOLD_MS = 1000

/** Requests for work that an engine holds until there is some. */
const longPolls = z.strictObject({
  /** Upper bound of every client's wait; the engine itself allows 30 minutes. */
  maxHold: time(LEAST_HOLD_MS).default(1_800_000),
  /** Held by each node at the same time: an engine refuses polls beyond 200 that it has not yet checked. */
  perNode: wholeNumber(1, 199).default(150),
  /** Polls of one engine that wait in the gateway for a free node; more are refused with 503. */
  waiting: wholeNumber(1, 1_000_000).default(20_000),
})

/** So many requests, evenly spread. A user who was idle may send `burst` at once, by default all of them. */
const rateMembers = {
  requests: wholeNumber(1, 1_000_000),
  per: age()
    .default(60_000)
    .refine((ms) => ms >= 1000 && ms % 1000 === 0, 'must be whole seconds'),
  burst: wholeNumber(1, 1_000_000).optional(),
}
const fitsRate = ({ requests, burst }: { requests: number; burst?: number | undefined }) =>
  burst === undefined || burst <= requests
const TOO_MUCH_AT_ONCE = { path: ['burst'], error: 'must not be more than requests' }
/** Rate limit of each user of an engine. */
export const rate = z
  .strictObject({
    ...rateMembers,
    /** Users with a rate of their own, or none. */
    users: z
      .record(
        z.string().min(1),
        z.union(
          [z.literal('unlimited'), z.strictObject(rateMembers).refine(fitsRate, TOO_MUCH_AT_ONCE)],
          'unlimited or { requests, per, burst } is needed',
        ),
      )
      .default({}),
  })
  .refine(fitsRate, TOO_MUCH_AT_ONCE)

const LEAST_DELAY_MS = 100

/** Load of the process beyond which new requests are refused with 503. */
const pressure = z.strictObject({
  /** Delay of the event loop, in two checks in a row; null: no limit. */
  eventLoopDelay: time(LEAST_DELAY_MS).nullable().default(1000),
  /** Share of the heap limit that is in use; 1: never refuse. */
  heap: decimal(0.1, 1).default(0.9),
  /** Memory in use inside and outside the heap: bytes, or up to 1 a share of the container's memory, else the machine's. */
  memory: z
    .union([decimal(0.01, 1), size()], 'a share from 0.01 to 1 or a size like 400MiB is needed')
    .default(0.7),
})

/** Limits other than the cache's. */
export const limits = z.strictObject({
  body: size().default(2 * 1024 ** 2),
  deploymentBody: size().default(64 * 1024 ** 2),
  /** Rows of one query that are read to filter out those the caller may not see; a query with more is refused. */
  filteredRows: wholeNumber(1, 1_000_000).default(10_000),
  /** Connections to each node, and so its maximum of concurrent requests: a slow node gets fewer. */
  connections: wholeNumber(1, 10_000).default(64),
  /** How many requests of one engine may wait for a free node, and how long; more are refused with 503. */
  queue: z
    .strictObject({
      size: wholeNumber(0, 1_000_000).default(1000),
      wait: time().default(2000),
      /** Wait of requests that join a standing queue; `wait` or more: the same as for others. */
      target: time().default(100),
    })
    .prefault({}),
  longPolls: longPolls.prefault({}),
  /** Null: no user is limited. */
  rate: rate.nullable().default(null),
  pressure: pressure.prefault({}),
})
