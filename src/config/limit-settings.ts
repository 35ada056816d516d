import { z } from 'zod'
import { age, decimal, wholeNumber, size, time } from './values.ts'

const LEAST_HOLD_MS = 1000

/** Requests for work that an engine holds until there is some. */
const longPolls = z.strictObject({
  /** No client waits longer, whatever it asks for; the engine itself takes 30 minutes at most. */
  maxHold: time(LEAST_HOLD_MS).default(1_800_000),
  /** Held by each node at once: an engine refuses polls beyond 200 that it has not looked at. */
  perNode: wholeNumber(1, 199).default(150),
  /** Of one engine, waiting in the gateway for a place at a node; more are refused with 503. */
  waiting: wholeNumber(1, 1_000_000).default(20_000),
})

/** So many requests, evenly; whoever has not asked for a while may ask `burst` at once, by default all of them. */
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
/** How much each user may ask of an engine. */
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

/** How full the process may be before new requests are refused with 503. */
const pressure = z.strictObject({
  /** How late the event loop may be, twice in a row; null: as late as it is. */
  eventLoopDelay: time(LEAST_DELAY_MS).nullable().default(1000),
  /** Share of the heap's limit that is in use; 1: never. */
  heap: decimal(0.1, 1).default(0.9),
  /** What is in use in the heap and outside it: bytes, or up to 1 a share of what the container, else the machine, has. */
  memory: z
    .union([decimal(0.01, 1), size()], 'a share from 0.01 to 1 or a size like 400MiB is needed')
    .default(0.7),
})

/** What is bounded, beside the cache. */
export const limits = z.strictObject({
  body: size().default(2 * 1024 ** 2),
  deploymentBody: size().default(64 * 1024 ** 2),
  /** Rows of one query that are read to leave out those the caller may not see; a query with more is refused. */
  filteredRows: wholeNumber(1, 1_000_000).default(10_000),
  /** Connections to each node, and so requests at once at most: a node that gets slow is given fewer. */
  connections: wholeNumber(1, 10_000).default(64),
  /** Requests of one engine that wait while no node has a place for them, and how long; more are refused with 503. */
  queue: z
    .strictObject({
      size: wholeNumber(0, 1_000_000).default(1000),
      wait: time().default(2000),
      /** How long those may wait that come while the queue has been standing; `wait` or more: as long as the others. */
      target: time().default(100),
    })
    .prefault({}),
  longPolls: longPolls.prefault({}),
  /** Null: nobody is limited. */
  rate: rate.nullable().default(null),
  pressure: pressure.prefault({}),
})
