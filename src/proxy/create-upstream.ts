import { setTimeout as wait } from 'node:timers/promises'
import type { BalancingPolicy } from '../config/node-settings.ts'
import type { MemberPlace } from '../operations/published/family-members.ts'
import type { ClientTls } from '../config/tls-types.ts'
import { Comparer, type ComparerOptions } from './compare/comparer.ts'
import type { WireRequest } from './attempts/attempt.ts'
import { createBalance } from './nodes/balance.ts'
import { createRetryBudget } from './attempts/retry-budget.ts'
import type { ResolveHost } from './nodes/addresses.ts'
import { Collector } from './attempts/collector.ts'
import {
  API_RESPONSES,
  createWireHeaders,
  wholeHeaders,
  type Credentials,
  type RequestPolicy,
  type ResponsePolicy,
} from './wire/headers.ts'
import type { AttemptEvent, UpstreamRequest } from './wire/upstream-request.ts'
import type { HealthOptions } from './nodes/health.ts'
import type { Node } from './nodes/node.ts'
import { createDateFormat, type DateFormat } from '../request/date-format.ts'
import {
  createNudges,
  NO_NUDGES,
  type NudgeSettings,
  type UpstreamNudges,
} from './long-polls/create-nudges.ts'
import { LongPollPools } from './long-polls/long-poll-pools.ts'
import { NodePool, type NodeAddress, type NodeEvent } from './nodes/node-pool.ts'
import { lockedTasksIn } from './long-polls/poll-response.ts'
import { type PollEnd, Polls } from './long-polls/polls.ts'
import { SharedFetches, type ShareOptions } from './attempts/shared-fetches.ts'
import { Shift, type ShiftOptions } from './nodes/shift.ts'
import { createReadMover } from './attempts/waiting-reads.ts'
import { LEARNED_FROM } from './nodes/record-outcome.ts'
import { SlowOperations } from './nodes/slow-operations.ts'
import { createProber, type Prober } from './nodes/prober.ts'
import { checkNodeConnection } from './nodes/check-connection.ts'
import { Queue, type QueueOptions } from './attempts/queue.ts'
import { CLIENT_GONE, Relay } from './attempts/relay.ts'
import type { Receiver } from './attempts/receiver.ts'
import { renamableHeaders, RenamedResponse } from './attempts/renamed-response.ts'
import type { StartAttempt } from '../request/attempt-span.ts'
import {
  sendWaiting,
  sendWithRetries,
  type SendOptions,
  type SlowLine,
} from './attempts/send-with-retries.ts'
import type { ProbeTimes, Upstream } from './upstream.ts'
import { createUnlocks, type UnlockResult, type Unlocks } from './long-polls/unlocks.ts'

export interface UpstreamOptions extends Omit<RequestPolicy, 'cookies' | 'requestHeaders'> {
  readonly engine: string
  /** The response headers that clients receive. Default: the headers of the API. A redirect is then refused. */
  readonly responsePolicy?: ResponsePolicy | undefined
  /** URLs such as `http://host:8080/engine-rest`, at least one. */
  readonly nodes: readonly (string | NodeAddress)[]
  /** The engine's name on its nodes. Without it, requests use the plain base path. */
  readonly remoteName?: string | undefined
  readonly timeouts: {
    /** Limit for opening one connection. After it the next node is tried. */
    readonly connectMs: number
    /** From dispatch to the head of the response. A request may set its own limit. */
    readonly headersMs: number
    /** The longest time without a byte of the response body, and the longest time in which the client reads no byte. */
    readonly bodyMs: number
    /** Limit for the complete response body. Default: 10 minutes. */
    readonly responseMs?: number
  }
  /** The path that a probe requests from an application. Without it, the nodes belong to an engine, and a probe requests their list of engines. */
  readonly probePath?: string | undefined
  /** The TLS settings for `https://` nodes. */
  readonly tls?: ClientTls | undefined
  /** The number of connections to each node. */
  readonly connections: number
  /** How the node of a request is chosen. Default: `least-load`. */
  readonly balancing?: BalancingPolicy
  readonly health?: HealthOptions
  /** How many requests may wait for a free node, and how long. More requests are refused with 503. Default: 1000 requests, 2 s. */
  readonly queue?: QueueOptions
  /** Distributes requests between two groups of nodes. Default: each request may use all nodes. */
  readonly shift?: ShiftOptions | undefined
  /** Compares the responses of the two groups of `shift`. Default: nothing is compared. */
  readonly compare?: CompareOptions | undefined
  /** The places of each node that slow operations may use together. Default: all places. */
  readonly slow?: SlowOptions | undefined
  /** Whether identical counts share a response. Default: each count is sent. */
  readonly share?: ShareOptions | undefined
  /** The limits of long polls. Default: few polls, and none is held longer than an engine would hold it. */
  readonly polls?: PollLimits
  /** The members of responses that get other names, by the id of the operation. Default: none. */
  readonly renamed?: ReadonlyMap<string, MemberPlace> | undefined
  /** The date format of the engine. Default: the engine's default format. */
  readonly dateFormat?: DateFormat
  readonly onAttempt?: (event: AttemptEvent) => void
  /** Returns the function that traces the attempts of the current request, or null outside of a request. Default: no attempt is traced. */
  readonly traced?: (() => StartAttempt | null) | undefined
  /** Called when a node is ejected, recovers, or remains ejected for another reason. */
  readonly onNodeChange?: (event: NodeEvent) => void
  readonly now?: (() => number) | undefined
  /** Returns a number from 0 to 1. */
  readonly random?: () => number
  /** Resolves node names. Default: the system's resolver. */
  readonly resolve?: ResolveHost | undefined
  /** How long a connection to the host name of a node is reused. Default: 30 s. */
  readonly renewedMs?: number
}

export type CompareOptions = Omit<ComparerOptions, 'left' | 'right' | 'random' | 'wallMs' | 'pause'>

export interface SlowOptions {
  /** The share of the places, less than 1. */
  readonly share: number
  readonly queue: QueueOptions
}

export interface PollLimits {
  /** The longest time that any client waits. */
  readonly maxHoldMs: number
  readonly perNode: number
  /** The number of polls that may wait in the gateway while all nodes are full. */
  readonly waiting: number
  /** The credentials with which the gateway nudges nodes and unlocks tasks of clients that have disconnected. */
  readonly unlockAs: Credentials
  readonly onEnd: (end: PollEnd) => void
  readonly onUnlock: (result: UnlockResult) => void
  /** Default: nodes are not nudged. */
  readonly nudges?: NudgeSettings | undefined
}

const DEFAULT_POLLS: PollLimits = {
  maxHoldMs: 1_800_000,
  perNode: 8,
  waiting: 100,
  unlockAs: 'none',
  onEnd: () => {},
  onUnlock: () => {},
}

/** The parts that upstreams share if they differ only in their credentials. */
interface UpstreamDependencies {
  readonly nodes: NodePool
  readonly sendOptions: SendOptions
  readonly polls: Polls
  readonly unlocks: Unlocks
  readonly nudges: UpstreamNudges
  /** Null if the nodes have no groups. */
  readonly shift: Shift | null
  /** Null if the responses of groups are not compared. */
  readonly comparison: GroupComparer | null
  /** Null if no responses are shared. */
  readonly sharedFetches: SharedFetches | null
  prober: Prober | null
}

export function createUpstream(options: UpstreamOptions): Upstream {
  const { now = () => performance.now(), random = Math.random } = options
  const nodes = createNodePool(options, now, (node) => {
    shared.prober?.reschedule(node)
    moveReads(node)
    sendWaiting(sendOptions)
    polls.send()
  })
  const slow = createSlowLine(options.slow, now)
  const shift = options.shift === undefined ? null : new Shift(options.shift, { random, now })
  const moveReads = createReadMover(shift)
  shift?.listen(() => nodes.all.forEach(moveReads))
  const sharedFetches = options.share === undefined ? null : new SharedFetches(options.share)
  const sendOptions: SendOptions = {
    pick: createBalance(nodes, {
      policy: options.balancing ?? 'least-load',
      hasPlace: (node, operation) => slow?.operations.hasPlace(node, operation) ?? true,
      now,
      random,
    }),
    isUnreachable: () => nodes.isUnreachable,
    budget: createRetryBudget(options.connections, now),
    queue: new Queue({ now, ...(options.queue ?? { max: 1000, waitMs: 2000 }) }),
    slow,
    regroup: shift === null ? undefined : (request) => ({ ...request, group: shift.groupOf(request) }),
    now,
    random,
    onAttempt: shift === null ? options.onAttempt : createOnAttempt(options, nodes, shift),
    engine: options.engine,
    traced: options.traced,
    onWritten: (node) => nudges.written(node),
    onWrite: sharedFetches === null ? undefined : () => sharedFetches.onWrite(),
  }
  // Unlocks belong to no request, because the client that waited for the tasks has disconnected.
  const unlocks = createUpstreamUnlocks(options, { ...sendOptions, traced: undefined })
  const polls = createPolls(options, { nodes, sendOptions, unlocks, shift }, () => nudges.watch())
  const nudges = createUpstreamNudges(options, { nodes, sendOptions, polls })
  const shared: UpstreamDependencies = {
    nodes,
    sendOptions,
    polls,
    unlocks,
    nudges,
    shift,
    comparison: createComparison(options, shift),
    sharedFetches,
    prober: null,
  }
  return upstreamOf(options, shared)
}

/** Returns a function that counts each attempt for the groups of nodes too. */
function createOnAttempt(
  { onAttempt }: UpstreamOptions,
  nodes: NodePool,
  shift: Shift,
): (event: AttemptEvent) => void {
  const groups = new Map(nodes.all.map(({ name, group }) => [name, group]))
  return function countAttempt(event) {
    const { operation, caller, node, result, endedBy, status, seconds, retry } = event
    if (LEARNED_FROM[endedBy].group)
      shift.record(groups.get(node) ?? null, {
        operation,
        caller,
        isFailed: result !== 'ok' || status >= 500,
        readMs: retry === 'always' ? seconds * 1000 : null,
      })
    onAttempt?.(event)
  }
}

interface GroupComparer {
  readonly comparer: Comparer
  readonly close: () => Promise<void>
}

/** The separate connections to each node of a group, for comparisons and checks. They never use a place of a client. */
const GROUP_CONNECTIONS = 2
const GROUP_MS = 10_000
/** The requests of a check that may wait for a connection. A comparison is dropped instead. */
const GROUP_QUEUE = 16

function createComparison(options: UpstreamOptions, shift: Shift | null): GroupComparer | null {
  const { compare, random = Math.random } = options
  if (compare === undefined || shift === null) return null
  const [left, right] = [shift.from, shift.to].map((group) => createUpstream(groupOptionsOf(options, group)))
  if (left === undefined || right === undefined) return null
  const comparer = new Comparer({
    ...compare,
    left: (upstreamRequest, limitBytes) => left.fetch(upstreamRequest, limitBytes),
    right: (upstreamRequest, limitBytes) => right.fetch(upstreamRequest, limitBytes),
    onDifference: (difference) => {
      compare.onDifference(difference)
      if (difference.isConfirmed) shift.recordDifference()
    },
    random,
    wallMs: Date.now,
    pause: (ms) => wait(ms, undefined, { ref: false }),
  })
  return {
    comparer,
    close: async () => {
      comparer.close()
      await Promise.all([left.close(), right.close()])
    },
  }
}

/** The options of an upstream that asks one group only and has no influence on the requests of clients. */
function groupOptionsOf(options: UpstreamOptions, group: string): UpstreamOptions {
  const { engine, nodes, timeouts, credentials, host, remoteName, tls, responsePolicy, resolve, now } =
    options
  return {
    engine,
    nodes: nodes.filter((node) => typeof node === 'object' && node.group === group),
    timeouts: { ...timeouts, headersMs: GROUP_MS, bodyMs: GROUP_MS, responseMs: GROUP_MS },
    connections: GROUP_CONNECTIONS,
    queue: { max: 0, waitMs: 0 },
    credentials,
    host,
    tls,
    remoteName,
    responsePolicy,
    resolve,
    now,
  }
}

function createSlowLine(options: SlowOptions | undefined, now: () => number): SlowLine | null {
  if (options === undefined) return null
  return {
    operations: new SlowOperations(options.share, now),
    queue: new Queue({ now, ...options.queue }),
    isNext: false,
  }
}

/** Limit for the response to an unlock request. */
const MAX_UNLOCK_BYTES = 64 * 1024

function createUpstreamUnlocks(options: UpstreamOptions, sendOptions: SendOptions): Unlocks {
  const { unlockAs, onUnlock } = options.polls ?? DEFAULT_POLLS
  const requestOf = createRequestOf({ ...options, credentials: unlockAs })
  return createUnlocks({
    send: (upstreamRequest) =>
      sendWithRetries(
        sendOptions,
        upstreamRequest,
        requestOf(upstreamRequest, upstreamRequest.headers),
        new Collector(upstreamRequest.method, MAX_UNLOCK_BYTES),
      ),
    onUnlock,
    dateFormat: options.dateFormat ?? createDateFormat(),
    wallMs: Date.now,
  })
}

function createPolls(
  options: UpstreamOptions,
  {
    nodes,
    sendOptions,
    unlocks,
    shift,
  }: Pick<UpstreamDependencies, 'nodes' | 'sendOptions' | 'unlocks' | 'shift'>,
  onParked: () => void,
): Polls {
  const { perNode, waiting, maxHoldMs, onEnd } = options.polls ?? DEFAULT_POLLS
  const requestOf = createRequestOf(options)
  return new Polls({
    pools: new LongPollPools(nodes, perNode, sendOptions.now),
    unlocks,
    sendOptions,
    requestOf: (upstreamRequest) => requestOf(upstreamRequest, wholeHeaders(upstreamRequest.headers)),
    maxHoldMs,
    maxWaiting: waiting,
    onEnd,
    groupOf: shift === null ? undefined : (upstreamRequest) => shift.groupOf(upstreamRequest),
    onParked,
  })
}

function createUpstreamNudges(
  options: UpstreamOptions,
  { nodes, sendOptions, polls }: Pick<UpstreamDependencies, 'nodes' | 'sendOptions' | 'polls'>,
): UpstreamNudges {
  const { nudges, unlockAs } = options.polls ?? DEFAULT_POLLS
  if (nudges === undefined) return NO_NUDGES
  const requestOf = createRequestOf({ ...options, credentials: unlockAs })
  return createNudges({
    ...nudges,
    nodes,
    sendOptions,
    requestOf: (upstreamRequest) => requestOf(upstreamRequest, upstreamRequest.headers),
    isParkedAt: (node) => polls.isParkedAt(node),
  })
}

function upstreamOf(options: UpstreamOptions, shared: UpstreamDependencies): Upstream {
  const { engine, timeouts, responsePolicy = API_RESPONSES } = options
  const { nodes, sendOptions, polls, unlocks, nudges, sharedFetches, shift, comparison } = shared
  const requestOf = createRequestOf(options)
  /** Sends a request of a client, or of the gateway itself, which sees the names that the engine sends. */
  function send<T>(
    upstreamRequest: UpstreamRequest,
    receiver: Receiver<T>,
    headers: Readonly<Record<string, string>>,
  ): Promise<T> {
    const { operation } = upstreamRequest
    const places = operation === undefined ? undefined : options.renamed?.get(operation)
    return sendWithRetries(
      sendOptions,
      inGroup(upstreamRequest),
      requestOf(upstreamRequest, places === undefined ? headers : renamableHeaders(headers)),
      places === undefined ? receiver : new RenamedResponse(receiver, places),
    )
  }
  function inGroup(upstreamRequest: UpstreamRequest): UpstreamRequest {
    if (shift === null) return upstreamRequest
    const group = shift.groupOf(upstreamRequest)
    const isInGroup = (node: Node): boolean => node.group === group
    // Without live nodes, the nodes of the group are drained, which is no failure of the group.
    if (group === shift.to && nodes.live.some(isInGroup)) shift.recordUsable(nodes.used.some(isInGroup))
    return { ...upstreamRequest, group }
  }
  function compareAfter<T>(upstreamRequest: UpstreamRequest, sent: Promise<T>): Promise<T> {
    if (comparison === null) return sent
    return sent.then((result) => {
      comparison.comparer.offer(upstreamRequest)
      return result
    })
  }
  function leaveNodes(): void {
    polls.leaveDrained()
    sendWaiting(sendOptions)
  }
  return {
    engine,
    relay(upstreamRequest, sink, headers) {
      if (sink.destroyed && upstreamRequest.retry === 'always') return Promise.resolve(CLIENT_GONE)
      const receiver = new Relay(sink, {
        upstreamRequest,
        headers,
        responsePolicy,
        stallMs: timeouts.bodyMs,
      })
      return compareAfter(upstreamRequest, send(upstreamRequest, receiver, upstreamRequest.headers))
    },
    fetch(upstreamRequest, limitBytes) {
      const collect = () =>
        send(
          upstreamRequest,
          new Collector(upstreamRequest.method, limitBytes, responsePolicy),
          wholeHeaders(upstreamRequest.headers),
        )
      const fetched = sharedFetches === null ? collect() : sharedFetches.fetch(upstreamRequest, collect)
      return compareAfter(upstreamRequest, fetched)
    },
    withCredentials: (credentials) => upstreamOf({ ...options, credentials }, shared),
    startProbes(times) {
      shared.prober?.close()
      nodes.isProbed = true
      shared.prober = createProberOf(options, shared, times)
    },
    deployed: () => shared.prober?.readRegistered() ?? Promise.resolve(),
    nodes: () => nodes.states((node) => polls.countAt(node)),
    drain(names) {
      nodes.drain(names)
      leaveNodes()
    },
    refuseGroup(group) {
      nodes.refuseGroup(group)
      leaveNodes()
    },
    reachable: () =>
      nodes.all.map((node) => ({
        node: node.name,
        isDrained: node.isDrained,
        checkConnection: (withinMs) => checkNodeConnection(node, { ...ownQuestionOf(options), withinMs }),
      })),
    openGroup: (group) =>
      createUpstream({ ...groupOptionsOf(options, group), queue: { max: GROUP_QUEUE, waitMs: GROUP_MS } }),
    shift,
    comparer: comparison?.comparer ?? null,
    waiting: () => sendOptions.queue.size,
    slow: () => ({
      running: sendOptions.slow?.operations.running() ?? 0,
      waiting: sendOptions.slow?.queue.size ?? 0,
    }),
    isQueueStanding: () => sendOptions.queue.isStanding,
    unlockTasks(response) {
      unlocks.unlock(lockedTasksIn(response))
      return unlocks.idle()
    },
    writtenElsewhere: (node) => nudges.writtenElsewhere(node),
    polls,
    async close() {
      shared.prober?.close()
      await comparison?.close()
      // Polls close first, because unlocking their tasks needs the other connections.
      await polls.close()
      await nudges.close()
      await nodes.close()
    },
  }
}

function createRequestOf(options: UpstreamOptions) {
  const { timeouts } = options
  const wireHeaders = createWireHeaders(options)
  return (upstreamRequest: UpstreamRequest, headers: Readonly<Record<string, string>>): WireRequest => ({
    method: upstreamRequest.method,
    path: upstreamRequest.path,
    headers: wireHeaders(headers),
    body: upstreamRequest.body,
    headersMs: upstreamRequest.headersMs ?? timeouts.headersMs,
    bodyMs: timeouts.bodyMs,
    responseMs: timeouts.responseMs ?? 600_000,
    upgrade: upstreamRequest.upgrade,
  })
}

function createProberOf(
  options: UpstreamOptions,
  { nodes, sendOptions }: UpstreamDependencies,
  times: ProbeTimes,
): Prober {
  return createProber({
    deployments: false,
    ...times,
    nodes: nodes.configured,
    ...ownQuestionOf(options),
    now: sendOptions.now,
    random: options.random ?? Math.random,
  })
}

/** Returns the engine name and the headers, with credentials, for the gateway's own requests to a node. */
function ownQuestionOf(options: UpstreamOptions) {
  const { probePath, remoteName = 'default' } = options
  const isEngine = probePath === undefined
  return {
    engine: isEngine ? remoteName : null,
    headers: createWireHeaders(options)({ accept: isEngine ? 'application/json' : '*/*' }),
  }
}

function createNodePool(
  options: UpstreamOptions,
  now: () => number,
  onChange: (node: Node) => void,
): NodePool {
  const { remoteName, probePath, connections, timeouts, nodes, health, tls, resolve, renewedMs } = options
  return new NodePool({
    nodes,
    suffix: remoteName === undefined ? '' : `/engine/${encodeURIComponent(remoteName)}`,
    probePath,
    connections,
    connectMs: timeouts.connectMs,
    health,
    now,
    tls,
    resolve,
    renewedMs,
    onChange(event, node) {
      onChange(node)
      options.onNodeChange?.(event)
    },
  })
}
