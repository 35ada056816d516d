import { isGatewayError, isRejection } from './health.ts'
import type { AttemptResult } from '../wire/upstream-request.ts'
import type { Node } from './node.ts'

export interface AttemptOutcome {
  readonly result: AttemptResult
  /** The status of the response, or 0 if no response head arrived. */
  readonly status: number
  readonly sent: boolean
  /** True if the node is not the cause: a limit of the gateway was reached, or the request cannot be written. */
  readonly isGatewayFault: boolean
  /** True if a reused connection broke, which is no sign of a fault of the node. */
  readonly isStaleConnection: boolean
  /** True for a long poll. Its duration does not depend on the speed of the node. */
  readonly isLongPoll: boolean
  readonly startedAtMs: number
  /** When the response head arrived. Without a head, when the attempt ended. */
  readonly headAtMs: number
  readonly nowMs: number
}

/** The lowest latency that an error counts with. Otherwise the node that fails fastest would get all requests. */
const ERROR_COUNTS_AS_MS = 5000

/** Updates a node's health, latency and limit after an attempt. */
export function recordOutcome(node: Node, outcome: AttemptOutcome): void {
  if (outcome.isStaleConnection) node.keepAlive.onStale(outcome.nowMs)
  if (outcome.isGatewayFault || outcome.isStaleConnection) return
  const { latency, health } = node
  if (!outcome.isLongPoll) limit(node, outcome)
  const { result, status, sent, startedAtMs, nowMs } = outcome
  const latencyMs = latencyOf(outcome, latency.readMs(nowMs))
  if (latencyMs !== null) latency.observe(latencyMs, nowMs)
  if (result === 'ok') health.recordResponse(status, startedAtMs, nowMs)
  else if (!sent && result !== 'cancelled') {
    if (result === 'timeout') health.silent(startedAtMs)
    health.failed('refused', startedAtMs, nowMs)
  } else if (result === 'timeout' || result === 'reset') health.failed(result, startedAtMs, nowMs)
}

function latencyOf(outcome: AttemptOutcome, knownMs: number): number | null {
  const { result, status, isLongPoll } = outcome
  const elapsedMs = outcome.headAtMs - outcome.startedAtMs
  const isFailed = result === 'ok' ? isGatewayError(status) : result !== 'cancelled'
  if (isFailed) return Math.max(elapsedMs, ERROR_COUNTS_AS_MS)
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
