import { z } from 'zod'
import { age, decimal, wholeNumber, size, time } from './values.ts'

const LEAST_HOLD_MS = 1000
const LEAST_NUDGE_MS = 100
const NUDGE_EVERY =
  'Longest time between two checks of a node that holds long polls, for tasks of timers, of asynchronous jobs, and of writes that do not pass through the gateway. ' +
  'After a write through the gateway the other nodes check at once.'

/** Settings of long polls: requests that an engine keeps open until it has work. */
const longPolls = z.strictObject({
  maxHold: time(LEAST_HOLD_MS)
    .default(1_800_000)
    .describe(
      'Longest wait of a worker, whatever its `asyncResponseTimeout`; then `[]`. Set it below what cuts connections before the gateway. An engine takes 30 minutes at most.',
    ),
  perNode: wholeNumber(1, 199)
    .default(150)
    .describe(
      'Long polls at each node at once, beside `limits.connections`. ' +
        'Danger: an engine refuses polls beyond 200 that come at once. With several gateways this is the share of one.',
    ),
  waiting: wholeNumber(1, 1_000_000)
    .default(20_000)
    .describe(
      'Further long polls of each engine that wait in the gateway, at about 18 KB each with the connection; more are 503.',
    ),
  nudge: z
    .union(
      [z.literal(false), z.strictObject({ every: time(LEAST_NUDGE_MS).default(750).describe(NUDGE_EVERY) })],
      'false or { every } is needed',
    )
    .prefault({})
    .describe(
      'How the nodes of an engine with several nodes are made to check their long polls for tasks that other nodes created. ' +
        'False: not at all; a task may then wait for up to 30 seconds.',
    ),
})

const rateMembers = {
  requests: wholeNumber(1, 1_000_000).describe('So many requests in `per`, evenly.'),
  per: age()
    .default(60_000)
    .refine((ms) => ms >= 1000 && ms % 1000 === 0, 'must be whole seconds')
    .meta({ title: 'duration of whole seconds' })
    .describe('The time of `requests`.'),
  burst: wholeNumber(1, 1_000_000)
    .optional()
    .describe(
      'Requests at once of a user who has not asked for a while. Not more than `requests`; without it as many.',
    ),
}
const fitsRate = ({ requests, burst }: { requests: number; burst?: number | undefined }) =>
  burst === undefined || burst <= requests
const TOO_MUCH_AT_ONCE = { path: ['burst'], error: 'must not be more than requests' }
/** The section `limits.rate`. */
export const rate = z
  .strictObject({
    ...rateMembers,
    users: z
      .record(
        z.string().min(1),
        z.union(
          [z.literal('unlimited'), z.strictObject(rateMembers).refine(fitsRate, TOO_MUCH_AT_ONCE)],
          'unlimited or { requests, per, burst } is needed',
        ),
      )
      .default({})
      .describe('Users with a rate of their own, or `unlimited`.'),
  })
  .refine(fitsRate, TOO_MUCH_AT_ONCE)

const LEAST_DELAY_MS = 100

/** The load of the process above which new requests are refused with 503. */
const pressure = z.strictObject({
  eventLoopDelay: time(LEAST_DELAY_MS)
    .nullable()
    .default(1000)
    .describe(
      'The event loop may be late by so much, twice in a row; then new requests are 503 `GW_OVERLOADED`. Null: however late.',
    ),
  heap: decimal(0.1, 1)
    .default(0.9)
    .describe(
      "Share of the heap's limit that may be in use; then the same. 1: never. Danger: then the process ends instead.",
    ),
  memory: z
    .union([decimal(0.01, 1), size()], 'a share from 0.01 to 1 or a size like 400MiB is needed')
    .meta({ title: 'share from 0.01 to 1, or a size' })
    .default(0.7)
    .describe(
      'Bytes that may be in use in the heap and outside it; then the same. Up to 1 it is a share of what the container, else the machine, has.',
    ),
})

/** The section `limits`. */
export const limits = z.strictObject({
  body: size()
    .default(2 * 1024 ** 2)
    .describe('Largest JSON body.'),
  deploymentBody: size()
    .default(64 * 1024 ** 2)
    .describe('Largest multipart body. It stays in memory while it is checked.'),
  filteredRows: wholeNumber(1, 1_000_000)
    .default(10_000)
    .describe(
      'Rows of one query that are read to leave out those that the caller may not see; a query with more is refused. ' +
        'Also the ids named in one request that are looked up for its decision, in lists of up to 500.',
    ),
  rowParts: wholeNumber(0, 10_000)
    .default(200)
    .describe(
      'Requests to an engine that one restricted query may be answered from, one for each definition, key or list of ids ' +
        'that the caller may see. Rows of a query that needs more are read and filtered, up to `filteredRows`.',
    ),
  connections: wholeNumber(1, 10_000)
    .default(64)
    .describe(
      'Connections to each node, and so the most requests at once. A node that gets slow is given fewer.',
    ),
  queue: z
    .strictObject({
      size: wholeNumber(0, 1_000_000)
        .default(1000)
        .describe(
          'Requests of each engine that wait while no node has a place for them; more are 503 `GW_OVERLOADED` at once.',
        ),
      wait: time()
        .default(2000)
        .describe('No request waits longer; then 503 `GW_OVERLOADED` with `Retry-After`.'),
      target: time()
        .default(100)
        .describe(
          'How long a request may wait that comes while the queue stands; then the same. `wait` or more: as long as the others.',
        ),
    })
    .prefault({})
    .describe('Requests that wait for a place at a node.'),
  longPolls: longPolls
    .prefault({})
    .describe('`POST /external-task/fetchAndLock` with an `asyncResponseTimeout`.'),
  rate: rate
    .nullable()
    .default(null)
    .describe(
      'How much each user may ask of each engine, as `{ requests: 600, per: 1m, burst: 100 }`; more is 429 `GW_RATE_LIMITED` with `Retry-After`. Null: nobody is limited.',
    ),
  pressure: pressure.prefault({}).describe('How full the process may be before new requests are refused.'),
})
