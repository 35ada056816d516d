import { isGatewayError, isRejection } from './health.ts'
import type { AttemptResult, EndedBy } from '../wire/upstream-request.ts'
import type { Node } from './node.ts'

export interface AttemptOutcome {
  readonly result: AttemptResult
  readonly endedBy: EndedBy
  /** The status of the response, or 0 if no response head arrived. */
  readonly status: number
  readonly sent: boolean
  /** True for a long poll. Its duration does not depend on the speed of the node. */
  readonly isLongPoll: boolean
  readonly startedAtMs: number
  /** When the response head arrived. Without a head, when the attempt ended. */
  readonly headAtMs: number
  readonly nowMs: number
}

/** The lowest latency that an error counts with. Otherwise the node that fails fastest would get all requests. */
const ERROR_COUNTS_AS_MS = 5000

/** The statistics of a node and of its group that an attempt may change. */
export interface LearnedFrom {
  /** Whether its idle connections break. Writes then use new connections. */
  readonly keepAlive: boolean
  readonly health: boolean
  /** `longer`: only if the attempt took longer than the known latency. */
  readonly latency: boolean | 'longer'
  /** The limit of its concurrent requests. */
  readonly concurrency: boolean
  /** The failures and times of its group, after which a shift may return. */
  readonly group: boolean
}

const NOTHING: LearnedFrom = {
  keepAlive: false,
  health: false,
  latency: false,
  concurrency: false,
  group: false,
}

/**
 * The statistics that an attempt changes, by what ended it. A signal that a client or the gateway causes must not count against a node:
 * any client can repeat it.
 */
export const LEARNED_FROM: Readonly<Record<EndedBy, LearnedFrom>> = {
  response: { keepAlive: false, health: true, latency: true, concurrency: true, group: true },
  node: { keepAlive: false, health: true, latency: true, concurrency: true, group: true },
  stale: { ...NOTHING, keepAlive: true },
  client: { ...NOTHING, latency: 'longer' },
  gateway: NOTHING,
}

/** Updates a node's health, latency and limit after an attempt. */
export function recordOutcome(node: Node, outcome: AttemptOutcome): void {
  const learned = LEARNED_FROM[outcome.endedBy]
  const { nowMs } = outcome
  if (learned.keepAlive) node.keepAlive.onStale(nowMs)
  if (learned.concurrency && !outcome.isLongPoll) limit(node, outcome)
  if (learned.latency !== false) {
    const latencyMs = latencyOf(outcome, node.latency.readMs(nowMs))
    if (latencyMs !== null) node.latency.observe(latencyMs, nowMs)
  }
  if (learned.health) recordHealth(node, outcome)
}

function recordHealth({ health }: Node, outcome: AttemptOutcome): void {
  const { result, status, sent, startedAtMs, nowMs } = outcome
  if (result === 'ok') return health.recordResponse(status, startedAtMs, nowMs)
  if (sent) {
    if (result === 'timeout' || result === 'reset') health.failed(result, startedAtMs, nowMs)
    return
  }
  if (result === 'timeout') health.silent(startedAtMs)
  health.failed('refused', startedAtMs, nowMs)
}

function latencyOf(outcome: AttemptOutcome, knownMs: number): number | null {
  const { endedBy, status, isLongPoll } = outcome
  const elapsedMs = outcome.headAtMs - outcome.startedAtMs
  if (endedBy === 'node' || (endedBy === 'response' && isGatewayError(status)))
    return Math.max(elapsedMs, ERROR_COUNTS_AS_MS)
  if (isLongPoll) return null
  // Errors of the engine are fast, and a client that disconnected would have waited longer. Neither may make a node look faster.
  return status >= 500 || status === 0 ? Math.max(elapsedMs, knownMs) : elapsedMs
}

/** Adapts the node's limit of concurrent requests. */
function limit(node: Node, outcome: AttemptOutcome): void {
  const { result, status, sent, startedAtMs, headAtMs, nowMs } = outcome
  const isOverload = isRejection(status) || (result === 'timeout' && sent)
  if (isOverload) node.concurrency.overloaded(nowMs)
  // Errors of the engine are faster than other responses, so they do not count.
  else if (result === 'ok' && status < 500)
    node.concurrency.recordResponse({ latencyMs: headAtMs - startedAtMs, inFlight: node.inFlight + 1, nowMs })
  node.capacity = node.concurrency.limit
}
