import { GatewayError } from '../../errors.ts'
import { Attempt, type AttemptOwner, type WireRequest } from './attempt.ts'
import { type ParsedHeaders } from '../wire/headers.ts'
import type { Balance } from '../nodes/balance.ts'
import type { Budget } from './retry-budget.ts'
import { HeldBack, pauseMsOf } from './conflict.ts'
import { failureOf, faultOf, isKeptLost, isOfTheNode } from '../wire/failure.ts'
import { isTurnedAway } from '../nodes/health.ts'
import type { AttemptEvent, AttemptResult, UpstreamRequest } from '../wire/upstream-request.ts'
import { recordOutcome } from '../nodes/record-outcome.ts'
import type { Node } from '../nodes/node.ts'
import type { Queue } from './queue.ts'
import type { Receiver } from './receiver.ts'

export interface SendOptions {
  readonly pick: Balance
  /** False if all are drained: a pause would not help. */
  readonly hasNodes: boolean
  /** All are known to be away: no request is kept waiting to find that out. */
  readonly isAway: () => boolean
  readonly budget: Budget
  readonly queue: Queue
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly onAttempt: ((event: AttemptEvent) => void) | undefined
}

/** Sends the hop, on another node where that is safe, until an answer or an error stands. The only place that repeats. */
export function sendWithRetries<T>(
  parts: SendOptions,
  upstreamRequest: UpstreamRequest,
  request: WireRequest,
  receiver: Receiver<T>,
): Promise<T> {
  return new Promise(function begin(resolve, reject) {
    new Exchange(parts, { upstreamRequest, request, receiver, resolve, reject }).first()
  })
}

interface Terms<T> {
  readonly upstreamRequest: UpstreamRequest
  readonly request: WireRequest
  readonly receiver: Receiver<T>
  readonly resolve: (result: T) => void
  readonly reject: (error: Error) => void
}

const NONE: readonly Node[] = []
const MOST_CONFLICTS = 2
/** New connections in place of kept ones that broke before a byte of the request had left. */
const MOST_RENEWED = 3

/** Ends a try whose answer is given up for another node's. */
class PassedOver extends Error {
  readonly next: Node

  constructor(next: Node) {
    super('another node is asked')
    this.next = next
  }
}

class Exchange<T> implements AttemptOwner {
  readonly #parts: SendOptions
  readonly #terms: Terms<T>
  #tried = NONE
  #hasRepeated = false
  #conflicts = 0
  /** The next try gets a connection of its own. */
  #needsSingle = false
  #renewed = 0
  #heldBack: HeldBack | null = null
  #startedAtMs = 0
  #headAtMs = 0

  constructor(parts: SendOptions, terms: Terms<T>) {
    this.#parts = parts
    this.#terms = terms
  }

  first(): void {
    const { budget, queue, hasNodes } = this.#parts
    budget.earn()
    // Those that wait came before, unless they wait for other nodes.
    if (queue.size === 0 && this.#start()) return
    if (!hasNodes) this.#refuseAway()
    else if (!this.#isRefusedAway()) this.#wait(queue)
  }

  head(attempt: Attempt, headers: ParsedHeaders): void {
    this.#headAtMs = this.#parts.now()
    const other = isTurnedAway(attempt.status) ? this.#repeatOn(attempt.node) : null
    if (other !== null) throw new PassedOver(other)
    if (attempt.status === 500 && this.#terms.upstreamRequest.conflict === 'repeat')
      this.#heldBack = new HeldBack(headers)
    else this.#terms.receiver.head(attempt, headers)
  }

  data(attempt: Attempt, chunk: Buffer): void {
    if (this.#heldBack === null) this.#terms.receiver.data(attempt, chunk)
    else if (!this.#heldBack.add(chunk)) this.#release(attempt)
  }

  ended(attempt: Attempt, cause: Error | null): void {
    try {
      this.#conclude(attempt, cause)
    } catch (error) {
      this.#terms.reject(asError(error))
    }
    this.#parts.queue.send()
  }

  #conclude(attempt: Attempt, cause: Error | null): void {
    if (cause instanceof PassedOver) {
      this.#report(attempt, 'ok', null)
      return this.#try(cause.next)
    }
    if (cause === null && this.#hasLostRace()) {
      this.#report(attempt, 'ok', null)
      return this.#tryLater(attempt.node)
    }
    const failure = cause ?? this.#finish(attempt)
    if (failure === null) this.#report(attempt, 'ok', null)
    else this.#fail(attempt, failure)
  }

  /** False: no node has a place for it. */
  #start(): boolean {
    const node = this.#parts.pick(NONE, this.#terms.upstreamRequest.deployment)
    if (node !== null) this.#try(node)
    return node !== null
  }

  #isRefusedAway(): boolean {
    const isAway = this.#parts.isAway()
    if (isAway) this.#refuseAway()
    return isAway
  }

  #refuseAway(): void {
    this.#terms.reject(new GatewayError('GW_NO_NODE', { retryAfterSeconds: 1 }))
  }

  #wait(queue: Queue): void {
    const { upstreamRequest, request, receiver, resolve, reject } = this.#terms
    const refuse = (): void => reject(new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 1 }))
    const waiter = {
      waitMs: request.headersMs,
      isChoosy: upstreamRequest.deployment !== undefined,
      start: () => this.#start() || this.#isRefusedAway(),
      expire: refuse,
    }
    if (!queue.add(waiter)) return refuse()
    receiver.waits?.((result) => {
      queue.remove(waiter)
      resolve(result)
    })
    queue.send()
  }

  #try(node: Node): void {
    const attempt = new Attempt(node, this)
    this.#heldBack = null
    this.#startedAtMs = this.#parts.now()
    this.#headAtMs = 0
    const { upstreamRequest, request, receiver } = this.#terms
    receiver.onStart(attempt)
    const isSingle =
      this.#needsSingle ||
      (upstreamRequest.retry === 'unsent' && node.keepAlive.takeSingle(this.#startedAtMs))
    this.#needsSingle = false
    attempt.start(request, isSingle)
  }

  #hasLostRace(): boolean {
    if (this.#heldBack === null || !this.#heldBack.isConflict()) return false
    return this.#conflicts < MOST_CONFLICTS && this.#parts.budget.spend()
  }

  #tryLater(last: Node): void {
    const pauseMs = pauseMsOf(this.#parts.random(), this.#conflicts)
    this.#conflicts += 1
    this.#heldBack = null
    setTimeout(
      () => this.#try(this.#parts.pick(NONE, this.#terms.upstreamRequest.deployment) ?? last),
      pauseMs,
    )
  }

  /** It is not what it was held back for. */
  #release(attempt: Attempt): void {
    const held = this.#heldBack
    this.#heldBack = null
    if (held === null) return
    this.#terms.receiver.head(attempt, held.headers)
    for (const chunk of held.chunks) this.#terms.receiver.data(attempt, chunk)
  }

  /** Hands the whole answer over; returns why not if the answer turns out to be one that cannot be written. */
  #finish(attempt: Attempt): Error | null {
    try {
      this.#release(attempt)
      this.#terms.resolve(this.#terms.receiver.onComplete(attempt))
      return null
    } catch (error) {
      return asError(error)
    }
  }

  #fail(attempt: Attempt, cause: Error): void {
    this.#report(attempt, attempt.isCancelled ? 'cancelled' : faultOf(cause, attempt), cause)
    const { upstreamRequest, receiver, resolve, reject } = this.#terms
    const { sent, status, isOnKept } = attempt
    const next = attempt.isCancelled ? null : this.#next(attempt, cause)
    if (next !== null) {
      this.#try(next)
      return
    }
    const rest = receiver.onAbort(attempt)
    if (rest !== null) resolve(rest)
    else reject(failureOf(cause, { sent, status, isOnKept, repeatable: upstreamRequest.retry === 'always' }))
  }

  /** The node to repeat on, or null if this failure stands. */
  #next(attempt: Attempt, cause: Error): Node | null {
    if (isKeptLost(cause, attempt)) {
      const node = this.#renew(attempt)
      this.#needsSingle = node !== null
      if (node !== null) return node
    }
    if (!attempt.sent) {
      this.#tried = [...this.#tried, attempt.node]
      return isOfTheNode(cause) ? this.#parts.pick(this.#tried, this.#terms.upstreamRequest.deployment) : null
    }
    if (!isOfTheNode(cause) || faultOf(cause, attempt) === 'timeout') return null
    if (this.#terms.receiver.hasGiven()) return null
    // With no other node the same one: a connection it closed as we wrote is the usual reason.
    return this.#repeatOn(attempt.node, attempt.node)
  }

  /** The node for a new connection; the same one will do, which is not to blame. Null: as with any other failure. */
  #renew({ sent, node }: Attempt): Node | null {
    const { pick, budget } = this.#parts
    const { retry, deployment } = this.#terms.upstreamRequest
    if (this.#renewed >= (sent ? 1 : MOST_RENEWED)) return null
    this.#renewed += 1
    if (!sent) return pick(this.#tried, deployment) ?? node
    if (retry !== 'always' || !budget.spend()) return null
    return pick([...this.#tried, node]) ?? node
  }

  /** The node on which to repeat what was sent: another one, or `last` if there is none; null where it may not be repeated. */
  #repeatOn(failed: Node, last: Node | null = null): Node | null {
    if (this.#terms.upstreamRequest.retry !== 'always' || this.#hasRepeated) return null
    this.#tried = [...this.#tried, failed]
    const node = this.#parts.pick(this.#tried) ?? last
    if (node === null || !this.#parts.budget.spend()) return null
    this.#hasRepeated = true
    return node
  }

  #report(attempt: Attempt, result: AttemptResult, cause: Error | null): void {
    const nowMs = this.#parts.now()
    const startedAtMs = this.#startedAtMs
    recordOutcome(attempt.node, {
      result,
      status: attempt.status,
      sent: attempt.sent,
      isOurs: cause !== null && !isOfTheNode(cause),
      isKeptLost: cause !== null && isKeptLost(cause, attempt),
      isHeld: this.#terms.upstreamRequest.headersMs !== undefined,
      startedAtMs,
      headAtMs: attempt.status === 0 ? nowMs : this.#headAtMs,
      nowMs,
    })
    this.#parts.onAttempt?.({
      node: attempt.node.name,
      result,
      status: attempt.status,
      seconds: (nowMs - startedAtMs) / 1000,
    })
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
