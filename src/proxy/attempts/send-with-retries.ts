import type { Duplex } from 'node:stream'
import { Node as ListNode } from 'yallist'
import { operatorText, GatewayError } from '../../errors.ts'
import { Attempt, type AttemptOwner, type WireRequest } from './attempt.ts'
import type { ParsedHeaders } from '../wire/headers.ts'
import type { Balance } from '../nodes/balance.ts'
import type { RetryBudget } from './retry-budget.ts'
import { BufferedError, pauseMsOf } from './conflict.ts'
import { endedByOf, failureOf, faultOf, isStaleConnection, isOfTheNode } from '../wire/failure.ts'
import { isRejection } from '../nodes/health.ts'
import type { AttemptEvent, AttemptResult, EndedBy, UpstreamRequest } from '../wire/upstream-request.ts'
import { withTraceContext } from '../wire/headers.ts'
import { recordOutcome } from '../nodes/record-outcome.ts'
import type { Node, WaitingRead } from '../nodes/node.ts'
import type { Queue, QueuedRequest } from './queue.ts'
import type { LearnDuration, SlowOperations } from '../nodes/slow-operations.ts'
import type { Receiver } from './receiver.ts'
import type { AttemptSpan, StartAttempt } from '../../request/attempt-span.ts'

export interface SendOptions {
  readonly pick: Balance
  /** Returns true if all nodes are drained, or known to be unreachable. A request then does not wait. */
  readonly isUnreachable: () => boolean
  readonly budget: RetryBudget
  readonly queue: Queue
  /** Null if slow operations have no limit. */
  readonly slow: SlowLine | null
  /** Returns the request for the group of nodes that serves it now. Default: the nodes have no groups. */
  readonly regroup?: ((upstreamRequest: UpstreamRequest) => UpstreamRequest) | undefined
  readonly now: () => number
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  readonly onAttempt: ((event: AttemptEvent) => void) | undefined
  /** Called when a request that may have created external tasks succeeded at this node. Default: not reported. */
  readonly onWritten?: ((node: string) => void) | undefined
  /** Called when an attempt to send a write has ended, before its client gets the complete response. Default: not reported. */
  readonly onWrite?: (() => void) | undefined
  readonly engine: string
  /** Returns the function that traces the attempts of the current request, or null if they are not traced. */
  readonly traced: (() => StartAttempt | null) | undefined
}

/** The operations that are slow, and the queue of their requests. */
export interface SlowLine {
  readonly operations: SlowOperations
  readonly queue: Queue
  /** Whether the next free place is offered to this queue first. */
  isNext: boolean
}

/** Starts waiting requests. Call it when a node may be free. The queues take turns, so that neither waits for the other to be empty. */
export function sendWaiting({ queue, slow }: Pick<SendOptions, 'queue' | 'slow'>): void {
  if (slow === null) return queue.send()
  if (queue.size + slow.queue.size === 0) return
  slow.isNext = !slow.isNext
  const [first, second] = slow.isNext ? [slow.queue, queue] : [queue, slow.queue]
  first.send()
  second.send()
}

/** Sends a request until it has a final response or error. Retries it on another node if that is safe. Only this module retries requests. */
export function sendWithRetries<T>(
  options: SendOptions,
  upstreamRequest: UpstreamRequest,
  request: WireRequest,
  receiver: Receiver<T>,
): Promise<T> {
  return new Promise(function begin(resolve, reject) {
    new RetryingSend(options, { upstreamRequest, request, receiver, resolve, reject }).start()
  })
}

interface SendTask<T> {
  readonly upstreamRequest: UpstreamRequest
  readonly request: WireRequest
  readonly receiver: Receiver<T>
  readonly resolve: (result: T) => void
  readonly reject: (error: Error) => void
}

const REFUSAL = { retryAfterSeconds: 1 }
const SLOW_REFUSAL = {
  ...REFUSAL,
  message: operatorText`The gateway is overloaded: the limit of concurrent slow operations is reached`,
}

const NO_NODES: readonly Node[] = []
const MAX_CONFLICTS = 2
/** The maximum number of new connections that replace reused ones that broke before a byte of the request was written. */
const MAX_RENEWED = 3
/** How often one read is moved away from nodes that do not respond. */
const MAX_MOVES = 3

/** Ends an attempt because the request is sent to another node: its response is discarded, or it has none yet. */
class TryNextNode extends Error {
  readonly next: Node

  constructor(next: Node) {
    super('the request is sent to another node')
    this.next = next
  }
}

class RetryingSend<T> implements AttemptOwner, WaitingRead {
  readonly #options: SendOptions
  #task: SendTask<T>
  #triedNodes = NO_NODES
  #hasRepeated = false
  #conflicts = 0
  /** True if the next attempt needs a new connection. */
  #needsDedicated = false
  #renewed = 0
  #moves = 0
  /** The attempt that waits for its response. Null if none does, or if the request is a write. */
  #waiting: Attempt | null = null
  /** The place of this read in the list of its node, while an attempt waits. */
  #place: ListNode<WaitingRead> | null = null
  #bufferedError: BufferedError | null = null
  #attemptStartedAtMs = 0
  #headAtMs = 0
  /** Read at the start, because later steps may run in the context of other requests. */
  readonly #startSpan: StartAttempt | null
  #span: AttemptSpan | null = null
  /** Ends the current attempt in the statistics of its operation. */
  #learnDuration: LearnDuration | null = null
  #attempts = 0

  constructor(options: SendOptions, task: SendTask<T>) {
    this.#options = options
    this.#task = task
    this.#startSpan = options.traced?.() ?? null
  }

  start(): void {
    const { budget, queue } = this.#options
    budget.deposit()
    // Queued requests have precedence, unless they wait for other nodes.
    if (queue.size === 0 && this.#startOnFreeNode()) return
    if (!this.#rejectIfUnreachable()) this.#wait()
  }

  moveOn(): boolean {
    const attempt = this.#waiting
    if (attempt === null || attempt.isCancelled || this.#moves >= MAX_MOVES) return false
    const upstreamRequest = this.#options.regroup?.(this.#task.upstreamRequest) ?? this.#task.upstreamRequest
    const tried = [...this.#triedNodes, attempt.node]
    const next = this.#healthyNode(upstreamRequest, tried)
    if (next === null || !this.#options.budget.withdraw()) return false
    this.#moves += 1
    this.#triedNodes = tried
    this.#task = { ...this.#task, upstreamRequest }
    attempt.abort(new TryNextNode(next))
    return true
  }

  /** Returns a node that is neither tried nor ejected, or null without one. */
  #healthyNode(upstreamRequest: UpstreamRequest, tried: readonly Node[]): Node | null {
    const { operation, group } = upstreamRequest
    const node = this.#options.pick(tried, { operation, group })
    if (node === null || node.health.reason === null) return node
    return this.#healthyNode(upstreamRequest, [...tried, node])
  }

  head(attempt: Attempt, headers: ParsedHeaders): void {
    this.#endWait(attempt)
    this.#headAtMs = this.#options.now()
    const other = isRejection(attempt.status) ? this.#repeatOn(attempt.node) : null
    if (other !== null) throw new TryNextNode(other)
    if (attempt.status === 500 && this.#task.upstreamRequest.conflict === 'repeat')
      this.#bufferedError = new BufferedError(headers)
    else this.#task.receiver.head(attempt, headers)
  }

  data(attempt: Attempt, chunk: Buffer): void {
    if (this.#bufferedError === null) this.#task.receiver.data(attempt, chunk)
    else if (!this.#bufferedError.add(chunk)) this.#release(attempt)
  }

  upgraded(headers: ParsedHeaders, socket: Duplex): void {
    this.#headAtMs = this.#options.now()
    const { receiver } = this.#task
    if (receiver.upgraded === undefined) socket.destroy()
    else receiver.upgraded(headers, socket)
  }

  ended(attempt: Attempt, cause: Error | null): void {
    if (this.#task.upstreamRequest.retry === 'unsent') this.#options.onWrite?.()
    try {
      this.#conclude(attempt, cause)
    } catch (error) {
      this.#task.reject(asError(error))
    }
    sendWaiting(this.#options)
  }

  #conclude(attempt: Attempt, cause: Error | null): void {
    this.#endWait(attempt)
    if (cause instanceof TryNextNode) {
      if (attempt.status === 0) this.#report(attempt, 'moved', cause)
      else this.#report(attempt, 'ok', null)
      return this.#attempt(cause.next)
    }
    if (cause === null && this.#shouldRepeatConflict()) {
      this.#report(attempt, 'ok', null)
      return this.#attemptLater(attempt.node)
    }
    const failure = cause ?? this.#finish(attempt)
    if (failure === null) this.#report(attempt, 'ok', null)
    else this.#fail(attempt, failure)
  }

  /** Starts an attempt. Returns false if no node is free for it. */
  #startOnFreeNode(): boolean {
    const node = this.#options.pick(NO_NODES, this.#task.upstreamRequest)
    if (node !== null) this.#attempt(node)
    return node !== null
  }

  /** Starts a read that has waited for its group in vain at a node of any group. Returns false if no node is free for it. */
  #startInAnyGroup(): boolean {
    const { retry, group, operation } = this.#task.upstreamRequest
    if (retry !== 'always' || group === undefined) return false
    const node = this.#options.pick(NO_NODES, { operation })
    if (node !== null) this.#attempt(node)
    return node !== null
  }

  /** Returns true if the request waits for the places of slow operations. */
  #waitsApart(): boolean {
    const { operation } = this.#task.upstreamRequest
    const operations = this.#options.slow?.operations
    return operations?.isSlow(operation) === true || operations?.isUntried(operation) === true
  }

  #rejectIfUnreachable(): boolean {
    const isUnreachable = this.#options.isUnreachable()
    if (isUnreachable) this.#task.reject(new GatewayError('GW_NO_NODE', { retryAfterSeconds: 1 }))
    return isUnreachable
  }

  #wait(): void {
    const { upstreamRequest, request, receiver, resolve, reject } = this.#task
    const { queue: usual, slow } = this.#options
    const isApart = slow !== null && this.#waitsApart()
    const queue = isApart ? slow.queue : usual
    const refuse = (): void => reject(new GatewayError('GW_OVERLOADED', isApart ? SLOW_REFUSAL : REFUSAL))
    const isPassed = (): boolean =>
      isApart ? slow.operations.isUntried(upstreamRequest.operation) : this.#waitsApart()
    const queued: QueuedRequest = {
      user: upstreamRequest.user,
      waitMs: request.headersMs,
      // The requests of slow operations wait for the same places, unless one of them also needs a certain node. A function and not a
      // getter: V8 creates a hidden class for each object literal with a getter, and it keeps the request until the old generation of
      // the heap is collected.
      isSelective: () => isSelective(upstreamRequest) || isPassed(),
      start: () => this.#startOnFreeNode() || this.#rejectIfUnreachable(),
      expire: () => {
        if (!this.#startInAnyGroup()) refuse()
      },
    }
    const entry = queue.add(queued)
    if (entry === null) return refuse()
    receiver.onQueued?.((result) => {
      queue.remove(entry)
      resolve(result)
    })
    sendWaiting(this.#options)
  }

  #attempt(node: Node): void {
    const { upstreamRequest, request, receiver } = this.#task
    if (upstreamRequest.isStillPermitted?.() === false)
      return this.#task.reject(new GatewayError('GW_DECISION_OUTDATED', { retryAfterSeconds: 1 }))
    const attempt = new Attempt(node, this)
    this.#bufferedError = null
    this.#attemptStartedAtMs = this.#options.now()
    this.#headAtMs = 0
    receiver.onStart(attempt)
    const operations = this.#options.slow?.operations
    this.#learnDuration =
      operations?.onStart(upstreamRequest.operation, node, this.#attemptStartedAtMs) ?? null
    const isDedicated =
      this.#needsDedicated ||
      (upstreamRequest.retry === 'unsent' && node.keepAlive.takeDedicated(this.#attemptStartedAtMs))
    this.#needsDedicated = false
    if (upstreamRequest.retry === 'always') {
      this.#waiting = attempt
      this.#place = new ListNode<WaitingRead>(this)
      node.waitingReads.pushNode(this.#place)
    }
    attempt.start(
      this.#startSpan === null ? request : this.#trace(request, node, this.#startSpan),
      isDedicated,
    )
  }

  #endWait({ node }: Attempt): void {
    if (this.#place === null) return
    node.waitingReads.removeNode(this.#place)
    this.#waiting = null
    this.#place = null
  }

  /** Starts the span of an attempt and returns the request with the trace headers of that span. */
  #trace(request: WireRequest, { name: node }: Node, startSpan: StartAttempt): WireRequest {
    const { method, headers } = request
    this.#span = startSpan({ engine: this.#options.engine, node, method, resends: this.#attempts })
    this.#attempts += 1
    return { ...request, headers: withTraceContext(headers, this.#span.headers) }
  }

  #shouldRepeatConflict(): boolean {
    if (this.#bufferedError === null || !this.#bufferedError.isConflict()) return false
    return this.#conflicts < MAX_CONFLICTS && this.#options.budget.withdraw()
  }

  #attemptLater(last: Node): void {
    const pauseMs = pauseMsOf(this.#options.random(), this.#conflicts)
    this.#conflicts += 1
    this.#bufferedError = null
    setTimeout(() => this.#attempt(this.#options.pick(NO_NODES, this.#task.upstreamRequest) ?? last), pauseMs)
  }

  /** Forwards a buffered error that has turned out not to be a conflict. */
  #release(attempt: Attempt): void {
    const buffered = this.#bufferedError
    this.#bufferedError = null
    if (buffered === null) return
    this.#task.receiver.head(attempt, buffered.headers)
    for (const chunk of buffered.chunks) this.#task.receiver.data(attempt, chunk)
  }

  /** Delivers the complete response. Returns the error if the response cannot be written. */
  #finish(attempt: Attempt): Error | null {
    try {
      this.#release(attempt)
      this.#task.resolve(this.#task.receiver.onComplete(attempt))
      return null
    } catch (error) {
      return asError(error)
    }
  }

  #fail(attempt: Attempt, cause: Error): void {
    this.#report(attempt, attempt.isCancelled ? 'cancelled' : faultOf(cause, attempt), cause)
    const { upstreamRequest, receiver, resolve, reject } = this.#task
    const { sent, status, isReused } = attempt
    const next = attempt.isCancelled ? null : this.#next(attempt, cause)
    if (next !== null) {
      this.#attempt(next)
      return
    }
    const partial = receiver.onAbort(attempt)
    if (partial !== null) resolve(partial)
    else reject(failureOf(cause, { sent, status, isReused, repeatable: upstreamRequest.retry === 'always' }))
  }

  /** Returns the node for the next attempt, or null if this failure is final. */
  #next(attempt: Attempt, cause: Error): Node | null {
    if (isStaleConnection(cause, attempt)) {
      const node = this.#renew(attempt)
      this.#needsDedicated = node !== null
      if (node !== null) return node
    }
    if (!attempt.sent) {
      this.#triedNodes = [...this.#triedNodes, attempt.node]
      return isOfTheNode(cause) ? this.#options.pick(this.#triedNodes, this.#task.upstreamRequest) : null
    }
    if (!isOfTheNode(cause) || faultOf(cause, attempt) === 'timeout') return null
    if (this.#task.receiver.hasDelivered()) return null
    // If there is no other node, the same one is used. It usually closed the connection while the request was written.
    return this.#repeatOn(attempt.node, attempt.node)
  }

  /** Returns the node for a new connection. The same node qualifies, because it did not fail. Returns null if the failure counts like any other. */
  #renew({ sent, node }: Attempt): Node | null {
    const { pick, budget } = this.#options
    const { upstreamRequest } = this.#task
    if (this.#renewed >= (sent ? 1 : MAX_RENEWED)) return null
    this.#renewed += 1
    if (!sent) return pick(this.#triedNodes, upstreamRequest) ?? node
    if (upstreamRequest.retry !== 'always' || !budget.withdraw()) return null
    return pick([...this.#triedNodes, node], { operation: upstreamRequest.operation }) ?? node
  }

  /** Returns the node on which to retry a sent request: another node, or `last` without another node. Returns null if a retry is not allowed. */
  #repeatOn(failed: Node, last: Node | null = null): Node | null {
    const { retry, operation } = this.#task.upstreamRequest
    if (retry !== 'always' || this.#hasRepeated) return null
    this.#triedNodes = [...this.#triedNodes, failed]
    const node = this.#options.pick(this.#triedNodes, { operation }) ?? last
    if (node === null || !this.#options.budget.withdraw()) return null
    this.#hasRepeated = true
    return node
  }

  #report(attempt: Attempt, result: AttemptResult, cause: Error | null): void {
    const nowMs = this.#options.now()
    const startedAtMs = this.#attemptStartedAtMs
    const { operation, user, retry } = this.#task.upstreamRequest
    const endedBy = endOf(result, attempt, cause)
    recordOutcome(attempt.node, {
      result,
      endedBy,
      status: attempt.status,
      sent: attempt.sent,
      isLongPoll: this.#task.upstreamRequest.headersMs !== undefined,
      startedAtMs,
      headAtMs: attempt.status === 0 ? nowMs : this.#headAtMs,
      nowMs,
    })
    const { status } = attempt
    const isComplete = result === 'ok' && status < 500
    this.#learnDuration?.({ isComplete, nowMs })
    if (result === 'ok' && mayHaveCreatedTasks(this.#task.upstreamRequest, status))
      this.#options.onWritten?.(attempt.node.name)
    this.#span?.end({ status, result })
    this.#options.onAttempt?.({
      operation,
      caller: user ?? '',
      node: attempt.node.name,
      result,
      endedBy,
      status,
      seconds: (nowMs - startedAtMs) / 1000,
      retry,
    })
  }
}

function endOf(result: AttemptResult, attempt: Attempt, cause: Error | null): EndedBy {
  if (cause === null) return 'response'
  return result === 'moved' ? 'gateway' : endedByOf(cause, attempt)
}

function mayHaveCreatedTasks({ retry, newTasks }: UpstreamRequest, status: number): boolean {
  return retry === 'unsent' && newTasks !== 'none' && status >= 200 && status < 300
}

/** Returns true if the request may wait for some nodes while other nodes are free. */
function isSelective({ deployment, preferredNode, group }: UpstreamRequest): boolean {
  return (
    deployment !== undefined || group !== undefined || (preferredNode !== undefined && preferredNode !== null)
  )
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
