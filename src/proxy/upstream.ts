import type { ServerResponse } from 'node:http'
import type { WireRequest } from './attempts/attempt.ts'
import { createBalance } from './nodes/balance.ts'
import { createBudget } from './attempts/retry-budget.ts'
import type { Resolve } from './nodes/addresses.ts'
import { Collector } from './attempts/collector.ts'
import { createWireHeaders, wholeHeaders, type Credentials, type RequestPolicy } from './wire/headers.ts'
import type { AttemptEvent, UpstreamRequest } from './wire/upstream-request.ts'
import type { Answer } from '../request/answer.ts'
import type { Node } from './nodes/node.ts'
import { LongPollPools } from './long-polls/long-poll-pools.ts'
import { NodePool, type NodeAddress, type NodeEvent, type NodeState } from './nodes/node-pool.ts'
import { lockedTasksIn } from './long-polls/poll-answer.ts'
import { type PollEnd, Polls } from './long-polls/polls.ts'
import { createProber, type Prober } from './nodes/prober.ts'
import { Queue, type QueueOptions } from './attempts/queue.ts'
import { CLIENT_GONE, Relay, type Relayed } from './attempts/relay.ts'
import { sendWithRetries, type SendOptions } from './attempts/send-with-retries.ts'
import { createUnlocks, type UnlockResult, type Unlocks } from './long-polls/unlocks.ts'

export interface UpstreamOptions extends Omit<RequestPolicy, 'cookies'> {
  readonly engine: string
  /** `http://host:8080/engine-rest`, at least one. */
  readonly nodes: readonly (string | NodeAddress)[]
  /** The engine's name on its nodes; without it the plain base path is used there. */
  readonly remoteName?: string
  readonly timeouts: {
    /** One connection; then the next node is tried. */
    readonly connectMs: number
    /** From the hand-over to the answer's head; a hop may ask for another. */
    readonly headersMs: number
    /** Without a byte of the answer's body, and without the client taking one. */
    readonly bodyMs: number
    /** For a whole answer's body, default 10 minutes. */
    readonly answerMs?: number
  }
  /** To each node. */
  readonly connections: number
  /** Requests that may wait while no node has a place for them, and how long; more are refused with 503. Default: 1000, 2 s. */
  readonly queue?: QueueOptions
  /** Default: few, and none of them longer than an engine would hold it. */
  readonly polls?: PollLimits
  readonly onAttempt?: (event: AttemptEvent) => void
  /** A node is ejected, or back, or in other trouble than before. */
  readonly onNodeChange?: (event: NodeEvent) => void
  readonly now?: () => number
  /** From 0 to 1. */
  readonly random?: () => number
  /** Of node names. Default: the system's. */
  readonly resolve?: Resolve
  /** How long a connection to a node's name is kept, default 30 s. */
  readonly renewedMs?: number
}

export interface PollLimits {
  /** No client waits longer. */
  readonly maxHoldMs: number
  readonly perNode: number
  /** In the gateway, when all nodes have as many as they may. */
  readonly waiting: number
  /** As who the gateway gives back what was locked for nobody. */
  readonly unlockAs: Credentials
  readonly onEnd: (end: PollEnd) => void
  readonly onUnlock: (result: UnlockResult) => void
}

const FEW_POLLS: PollLimits = {
  maxHoldMs: 1_800_000,
  perNode: 8,
  waiting: 100,
  unlockAs: 'none',
  onEnd: () => {},
  onUnlock: () => {},
}

export interface ProbeTimes {
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Whether to ask also which deployments each node has registered, default no. */
  readonly deployments?: boolean
}

/** One engine and the way to it. */
export interface Upstream {
  readonly engine: string
  /** Streams the answer to the client; rejects only while nothing has been written to it. */
  relay(
    upstreamRequest: UpstreamRequest,
    sink: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): Promise<Relayed>
  /** The whole answer, not encoded; larger than `limitBytes` is an error. */
  fetch(upstreamRequest: UpstreamRequest, limitBytes: number): Promise<Answer>
  /** The same nodes, asked with other credentials. */
  withCredentials(credentials: Credentials): Upstream
  /** Asks the nodes from now on whether the engine is there, with these credentials. Without it, requests find out. */
  startProbes(times: ProbeTimes): void
  /** Something was deployed or taken away: the nodes are asked anew which deployments they have, where that matters. */
  deployed(): Promise<void>
  nodes(): readonly NodeState[]
  /** Requests for which no node has a place. */
  waiting(): number
  /** There have been such for so long that new ones may wait for a moment only. */
  isQueueStanding(): boolean
  /** Unlocks all tasks that this answer has locked: nobody gets it. Resolves when the engine has been told. */
  giveBack(answer: Answer): Promise<void>
  /** Long polls, which take no connection of the other requests'. */
  readonly polls: Polls
  /** Waits for what is under way. */
  close(): Promise<void>
}

/** What those who ask with different credentials share. */
interface Shared {
  readonly nodes: NodePool
  readonly parts: SendOptions
  readonly polls: Polls
  readonly unlocks: Unlocks
  prober: Prober | null
}

export function createUpstream(options: UpstreamOptions): Upstream {
  const { now = () => performance.now(), random = Math.random } = options
  const nodes = createNodeSet(options, now, (node) => {
    shared.prober?.reschedule(node)
    parts.queue.send()
    polls.send()
  })
  const parts: SendOptions = {
    pick: createBalance(nodes, { now, random }),
    hasNodes: nodes.live.length > 0,
    isAway: () => nodes.isUnreachable,
    budget: createBudget(options.connections, now),
    queue: new Queue({ now, ...(options.queue ?? { max: 1000, waitMs: 2000 }) }),
    now,
    random,
    onAttempt: options.onAttempt,
  }
  const unlocks = createUnlocksOf(options, parts)
  const polls = createPolls(options, { nodes, parts, unlocks })
  const shared: Shared = { nodes, parts, polls, unlocks, prober: null }
  return upstreamOf(options, shared)
}

/** What an answer to an unlocking may have. */
const MAX_UNLOCK_BYTES = 64 * 1024

function createUnlocksOf(options: UpstreamOptions, parts: SendOptions): Unlocks {
  const { unlockAs, onUnlock } = options.polls ?? FEW_POLLS
  const requestOf = createRequestOf({ ...options, credentials: unlockAs })
  return createUnlocks({
    send: (upstreamRequest) =>
      sendWithRetries(
        parts,
        upstreamRequest,
        requestOf(upstreamRequest, upstreamRequest.headers),
        new Collector(upstreamRequest.method, MAX_UNLOCK_BYTES),
      ),
    onUnlock,
    wallMs: Date.now,
  })
}

function createPolls(
  options: UpstreamOptions,
  { nodes, parts, unlocks }: Pick<Shared, 'nodes' | 'parts' | 'unlocks'>,
): Polls {
  const { perNode, waiting, maxHoldMs, onEnd } = options.polls ?? FEW_POLLS
  const requestOf = createRequestOf(options)
  return new Polls({
    pools: new LongPollPools(nodes, perNode, parts.now),
    unlocks,
    parts,
    requestOf: (upstreamRequest) => requestOf(upstreamRequest, wholeHeaders(upstreamRequest.headers)),
    maxHoldMs,
    maxWaiting: waiting,
    onEnd,
  })
}

function upstreamOf(options: UpstreamOptions, shared: Shared): Upstream {
  const { engine, timeouts } = options
  const { nodes, parts, polls, unlocks } = shared
  const requestOf = createRequestOf(options)
  return {
    engine,
    relay(upstreamRequest, sink, headers) {
      if (sink.destroyed && upstreamRequest.retry === 'always') return Promise.resolve(CLIENT_GONE)
      const receiver = new Relay(sink, { upstreamRequest, headers, stallMs: timeouts.bodyMs })
      return sendWithRetries(
        parts,
        upstreamRequest,
        requestOf(upstreamRequest, upstreamRequest.headers),
        receiver,
      )
    },
    fetch(upstreamRequest, limitBytes) {
      const receiver = new Collector(upstreamRequest.method, limitBytes)
      return sendWithRetries(
        parts,
        upstreamRequest,
        requestOf(upstreamRequest, wholeHeaders(upstreamRequest.headers)),
        receiver,
      )
    },
    withCredentials: (credentials) => upstreamOf({ ...options, credentials }, shared),
    startProbes(times) {
      shared.prober?.close()
      nodes.isProbed = true
      shared.prober = createProberOf(options, shared, times)
    },
    deployed: () => shared.prober?.readRegistered() ?? Promise.resolve(),
    nodes: () => nodes.states(),
    waiting: () => parts.queue.size,
    isQueueStanding: () => parts.queue.isStanding,
    giveBack(answer) {
      unlocks.give(lockedTasksIn(answer))
      return unlocks.idle()
    },
    polls,
    async close() {
      shared.prober?.close()
      // First: what is given back needs the other connections.
      await polls.close()
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
    answerMs: timeouts.answerMs ?? 600_000,
  })
}

function createProberOf(options: UpstreamOptions, { nodes, parts }: Shared, times: ProbeTimes): Prober {
  return createProber({
    deployments: false,
    ...times,
    nodes: nodes.live,
    engine: options.remoteName ?? 'default',
    headers: createWireHeaders(options)({ accept: 'application/json' }),
    now: parts.now,
    random: options.random ?? Math.random,
  })
}

function createNodeSet(
  options: UpstreamOptions,
  now: () => number,
  onChange: (node: Node) => void,
): NodePool {
  const { remoteName, connections, timeouts, nodes, resolve, renewedMs } = options
  return new NodePool({
    nodes,
    suffix: remoteName === undefined ? '' : `/engine/${encodeURIComponent(remoteName)}`,
    connections,
    connectMs: timeouts.connectMs,
    now,
    resolve,
    renewedMs,
    onChange(event, node) {
      onChange(node)
      options.onNodeChange?.(event)
    },
  })
}
