import { z } from 'zod'
import { ceilings } from './ceiling-settings.ts'
import { rate } from './rate-settings.ts'
import { listedName, percent, wholeNumber, size, time } from './values.ts'

const LEAST_HOLD_MS = 1000
const LEAST_NUDGE_MS = 100
const NUDGE_EVERY =
  'Longest time between two checks of a node that holds long polls. These checks find tasks of timers, of asynchronous jobs, and of writes that do not pass through the gateway. ' +
  'After a write through the gateway, the other nodes check at once.'

/** Settings of long polls: requests that an engine keeps open until it has work. */
const longPolls = z.strictObject({
  maxHold: time(LEAST_HOLD_MS)
    .default(1_800_000)
    .describe(
      'Longest wait of a worker, even if its `asyncResponseTimeout` is longer. After this time the response is `[]`. ' +
        'Set it below the idle timeout of every proxy in front of the gateway. An engine accepts at most 30 minutes.',
    ),
  perNode: wholeNumber(1, 199)
    .default(150)
    .describe(
      'Maximum number of concurrent long polls at each node, in addition to `limits.connections`. ' +
        'Danger: an engine refuses long polls beyond 200 that arrive at once. If several gateways use the engine, set the share of one gateway.',
    ),
  waiting: wholeNumber(1, 1_000_000)
    .default(20_000)
    .describe(
      'Maximum number of further long polls of each engine that wait in the gateway. Each needs about 18 KB of memory, connection included. ' +
        'More long polls get 503.',
    ),
  nudge: z
    .union(
      [z.literal(false), z.strictObject({ every: time(LEAST_NUDGE_MS).default(750).describe(NUDGE_EVERY) })],
      'false or { every } is needed',
    )
    .prefault({})
    .describe(
      'How the gateway makes the nodes of an engine check their long polls for tasks that other nodes created. It applies to engines with several nodes. ' +
        'If false, the gateway does not do this, and a task may wait for up to 30 seconds.',
    ),
})

/** Limits of the WebSockets of each application with `websocket: true`. */
const webSockets = z.strictObject({
  open: wholeNumber(1, 100_000)
    .default(1000)
    .describe(
      'Maximum number of open WebSockets of each application, in each process. A further handshake gets 503 `GW_OVERLOADED`. Each needs two file descriptors.',
    ),
  perUser: wholeNumber(1, 100_000)
    .default(20)
    .describe(
      'Maximum number of open WebSockets of each user of an application, in each process. A further handshake gets 429 `GW_RATE_LIMITED`. ' +
        'With `auth: none`, it is the number for each network of client addresses.',
    ),
  maxAge: time(1000)
    .default(3_600_000)
    .describe(
      'Age after which a WebSocket is closed. The client then connects again, and is authenticated again. It is checked every 5 seconds.',
    ),
  idle: time(1000)
    .default(300_000)
    .describe('Longest time without a byte in either direction. After it, the WebSocket is closed.'),
})

/** An engine reads the largest number as no limit. */
const MOST_RESULTS = 2_147_483_646
const results = wholeNumber(1, MOST_RESULTS)
const resultsOfSome = (whom: string) =>
  z
    .record(
      listedName('items applies to every caller').min(1),
      z.union([z.literal('unlimited'), results], 'unlimited or a number is needed'),
    )
    .default({})
    .describe(whom)

/** The section `limits.maxResults`. */
export const maxResults = z.strictObject({
  items: results.describe('Maximum `maxResults` of a list.'),
  excess: z
    .enum(['refuse', 'limit', 'report'])
    .default('refuse')
    .describe(
      'The handling of a list with a larger `maxResults` or without one. `refuse`: 400, as from an engine with `queryMaxResultsLimit`. ' +
        '`limit`: the gateway sets `maxResults` to the maximum. Danger: a client that expects all items then gets only the first ones. ' +
        '`report`: the request is counted and logged, and continues.',
    ),
  users: resultsOfSome(
    'Maximum for individual users by user id, or `unlimited`. It has precedence over the maximum of a group.',
  ),
  groups: resultsOfSome(
    'Maximum for the members of groups by group id, or `unlimited`. The largest one applies to a member of several groups.',
  ),
})

const itemsOf = (most: number, usual: number, what: string) =>
  wholeNumber(1, most)
    .default(usual)
    .describe(`Maximum number of ${what}. A request with more of them gets 400.`)

/** The section `limits.items`. */
const bodyItems = z.strictObject({
  topics: itemsOf(100_000, 500, 'topics of a `fetchAndLock`'),
  correlationKeys: itemsOf(100_000, 100, 'correlation keys of a message'),
  conditions: itemsOf(
    100_000,
    50,
    'conditions on variables or times in a query, for example in `processVariables`',
  ),
  orQueries: itemsOf(1000, 100, '`orQueries` in a query'),
  sorting: itemsOf(100_000, 20, 'criteria in the `sorting` of a query'),
  ids: itemsOf(100_000, 20_000, 'ids, keys, names and other texts in the lists of a body'),
})

const LEAST_DELAY_MS = 100

/** The load of the process above which new requests are refused with 503. */
const pressure = z.strictObject({
  eventLoopDelay: time(LEAST_DELAY_MS)
    .nullable()
    .default(1000)
    .describe(
      'Maximum delay of the event loop. If two consecutive measurements exceed it, new requests of the callers that cause most of the load get ' +
        '503 `GW_OVERLOADED`, and if that is not enough, new requests of all callers. ' +
        'If null, no request is refused because of a delay.',
    ),
  heap: percent(0.1)
    .default(0.9)
    .describe(
      'Maximum share of the heap limit that may be in use. Above it, new requests get 503 `GW_OVERLOADED`. If `100%`, no request is refused because of the heap. ' +
        'Danger: the process then exits when the heap is full.',
    ),
  memory: z
    .union([percent(0.01), size()], 'a share like 70% or a size like 400MiB is needed')
    .meta({ title: 'share like `70%`, or a size' })
    .default(0.7)
    .describe(
      'Maximum memory in use, inside and outside the heap. Above it, new requests get 503 `GW_OVERLOADED`. ' +
        'A share is a part of the memory of the container, or of the machine if the container has no limit. ' +
        'This share is divided by the number of `workers`.',
    ),
})

/** The section `limits`. */
export const limits = z.strictObject({
  body: size()
    .default(2 * 1024 ** 2)
    .describe('Maximum size of a JSON body.'),
  deploymentBody: size()
    .default(64 * 1024 ** 2)
    .describe('Maximum size of a multipart body. The body is in memory while the gateway checks it.'),
  scannedItems: wholeNumber(1, 1_000_000)
    .default(10_000)
    .describe(
      "Maximum number of items that the gateway reads to filter the result of one query by the caller's permissions. A query with more items is refused. " +
        'It is also the maximum number of ids in one request that are looked up for the decision, in lists of up to 500.',
    ),
  subqueries: wholeNumber(0, 10_000)
    .default(200)
    .describe(
      'Maximum number of requests to an engine for one restricted query. ' +
        'The gateway sends one request for each definition, key or list of ids that the caller may see. ' +
        'Five times as many are sent if the others are for single instances, which cost little. ' +
        'If a query needs more requests, the gateway reads and filters its items instead, up to `scannedItems`.',
    ),
  connections: wholeNumber(1, 10_000)
    .default(64)
    .describe(
      'Maximum number of connections to each node, and therefore of concurrent requests. The gateway lowers the limit of a node that becomes slow.',
    ),
  queue: z
    .strictObject({
      size: wholeNumber(0, 1_000_000)
        .default(1000)
        .describe(
          'Maximum number of requests of each engine that wait while all nodes are at their limit. More requests get 503 `GW_OVERLOADED` at once.',
        ),
      wait: time()
        .default(2000)
        .describe(
          'Longest wait of a request. After this time it gets 503 `GW_OVERLOADED` with `Retry-After`.',
        ),
      target: time()
        .default(100)
        .describe(
          'Longest wait of a request that joins a standing queue. A queue is standing if, for ten times `target`, every request that left it had waited longer than `target`. ' +
            'After this wait the request gets 503 `GW_OVERLOADED` with `Retry-After`. If `target` is not less than `wait`, `wait` applies to every request.',
        ),
    })
    .prefault({})
    .describe('Requests that wait for a free node.'),
  slowShare: percent(0.1)
    .default(0.75)
    .describe(
      'Share of the connections to each node that slow operations may use together. An operation is slow if its requests usually take a second or longer. ' +
        'More requests of slow operations wait in a queue of their own, and then get 503 `GW_OVERLOADED`. If `100%`, slow operations have no limit.',
    ),
  longPolls: longPolls
    .prefault({})
    .describe('Long polls: `POST /external-task/fetchAndLock` with an `asyncResponseTimeout`.'),
  webSockets: webSockets
    .prefault({})
    .describe('WebSockets of applications with `websocket: true` (see `passthrough`).'),
  rate: rate
    .nullable()
    .default(null)
    .describe(
      'Maximum rate of requests of each user to each engine, for example `{ requests: 600, per: 1m, burst: 100 }`. ' +
        'More requests get 429 `GW_RATE_LIMITED` with `Retry-After`. If null, no user is limited.',
    ),
  maxResults: maxResults
    .nullable()
    .default(null)
    .describe(
      'Maximum number of items of a list that a caller may request, for example `{ items: 1000, groups: { workers: 10000 } }`. ' +
        "It has the meaning of the engine's setting `queryMaxResultsLimit`. If null, lists may have any number of items.",
    ),
  items: bodyItems
    .prefault({})
    .describe(
      'Maximum number of items in the lists of one request, for each kind of list. All lists of one kind are counted together. ' +
        'The time that an engine needs for some of these lists grows with the square of their length.',
    ),
  ceilings: ceilings.describe(
    'Rules that limit what clients may do, whatever their permissions are, for example `[{ clients: [agent], ceiling: read }]`. ' +
      'A rule applies to every caller that one of its members `users`, `groups`, `clients` and `claim` names, and to every caller if it has none of them. ' +
      'If several rules apply to a caller, the lowest ceiling counts. Other requests get 403 `GW_CEILING`, in every mode of `authorization`.',
  ),
  pressure: pressure
    .prefault({})
    .describe('Maximum load of the process. Above it, new requests are refused.'),
})
