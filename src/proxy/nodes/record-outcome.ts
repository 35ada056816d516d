import { isGatewayError, isTurnedAway } from './health.ts'
import type { AttemptResult } from '../wire/upstream-request.ts'
import type { Node } from './node.ts'

/** How one try went. */
export interface AttemptOutcome {
  readonly result: AttemptResult
  /** Of the answer's head, 0 if none came. */
  readonly status: number
  readonly sent: boolean
  /** The fault is none of the node's: a bound of ours, a request that cannot be written. */
  readonly isOurs: boolean
  /** A connection that was kept from before broke: says nothing about the node. */
  readonly isKeptLost: boolean
  /** A long poll: how long it takes says nothing. */
  readonly isHeld: boolean
  readonly startedAtMs: number
  /** When the head came; when it was over, if none did. */
  readonly headAtMs: number
  readonly nowMs: number
}

/** An error counts as so slow at least: otherwise the node that fails fastest would get all the traffic. */
const ERROR_COUNTS_AS_MS = 5000

/** What a try says about its node, for the next choice. */
export function recordOutcome(node: Node, outcome: AttemptOutcome): void {
  if (outcome.isKeptLost) node.keepAlive.lost(outcome.nowMs)
  if (outcome.isOurs || outcome.isKeptLost) return
  const { latency, health } = node
  if (!outcome.isHeld) limit(node, outcome)
  const { result, status, sent, startedAtMs, nowMs } = outcome
  const latencyMs = latencyOf(outcome, latency.readMs(nowMs))
  if (latencyMs !== null) latency.observe(latencyMs, nowMs)
  if (result === 'ok') health.answered(status, startedAtMs, nowMs)
  else if (!sent && result !== 'cancelled') {
    if (result === 'timeout') health.silent(startedAtMs)
    health.failed('refused', startedAtMs, nowMs)
  } else if (result === 'timeout' || result === 'reset') health.failed(result, startedAtMs, nowMs)
}

function latencyOf(outcome: AttemptOutcome, knownMs: number): number | null {
  const { result, status, isHeld } = outcome
  const elapsedMs = outcome.headAtMs - outcome.startedAtMs
  const isFailed = result === 'ok' ? isGatewayError(status) : result !== 'cancelled'
  if (isFailed) return Math.max(elapsedMs, ERROR_COUNTS_AS_MS)
  if (isHeld) return null
  // The engine's own errors come quickly, and who left would have waited longer: neither makes a node look quicker.
  return status >= 500 || status === 0 ? Math.max(elapsedMs, knownMs) : elapsedMs
}

/** How many requests it is given at once from now on. */
function limit(node: Node, outcome: AttemptOutcome): void {
  const { result, status, sent, startedAtMs, headAtMs, nowMs } = outcome
  const isTooMuch = isTurnedAway(status) || (result === 'timeout' && sent)
  if (isTooMuch) node.concurrency.overloaded(nowMs)
  // An engine's own errors come quicker than answers.
  else if (result === 'ok' && status < 500)
    node.concurrency.answered({ latencyMs: headAtMs - startedAtMs, inFlight: node.inFlight + 1, nowMs })
  node.capacity = node.concurrency.limit
}
