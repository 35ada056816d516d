import { GatewayError } from '../errors.ts'
import { Attempt, type AttemptOwner, type ParsedHeaders, type WireRequest } from './attempt.ts'
import type { Balance } from './balance.ts'
import type { Budget } from './budget.ts'
import { failureOf, faultOf } from './failure.ts'
import type { AttemptEvent, AttemptResult, Hop } from './hop.ts'
import { learn } from './learn.ts'
import type { Node } from './node.ts'

/** Takes the answer of whichever attempt brings one. */
export interface Receiver<T> {
  /** A try starts: this is the one to pause or cancel from now on. */
  began(attempt: Attempt): void
  head(attempt: Attempt, headers: ParsedHeaders): void
  data(attempt: Attempt, chunk: Buffer): void
  whole(attempt: Attempt): T
  /** There will be no whole answer. The result if one can still be told, null if nothing has been given out: then it is an error. */
  broken(attempt: Attempt): T | null
}

export interface ExchangeParts {
  readonly pick: Balance
  /** False if all are drained: a pause would not help. */
  readonly hasNodes: boolean
  readonly budget: Budget
  readonly now: () => number
  readonly onAttempt: ((event: AttemptEvent) => void) | undefined
}

/** Sends the hop, on another node where that is safe, until an answer or an error stands. The only place that repeats. */
export function exchange<T>(
  parts: ExchangeParts,
  hop: Hop,
  request: WireRequest,
  receiver: Receiver<T>,
): Promise<T> {
  return new Promise(function begin(resolve, reject) {
    new Exchange(parts, { hop, request, receiver, resolve, reject }).first()
  })
}

interface Terms<T> {
  readonly hop: Hop
  readonly request: WireRequest
  readonly receiver: Receiver<T>
  readonly resolve: (result: T) => void
  readonly reject: (error: Error) => void
}

const NONE: readonly Node[] = []

class Exchange<T> implements AttemptOwner {
  readonly #parts: ExchangeParts
  readonly #terms: Terms<T>
  #tried = NONE
  #hasRepeated = false
  #startedAtMs = 0
  #headAtMs = 0

  constructor(parts: ExchangeParts, terms: Terms<T>) {
    this.#parts = parts
    this.#terms = terms
  }

  first(): void {
    this.#parts.budget.earn()
    const node = this.#parts.pick(NONE)
    if (node !== null) return this.#try(node)
    const code = this.#parts.hasNodes ? 'GW_OVERLOADED' : 'GW_NO_NODE'
    this.#terms.reject(new GatewayError(code, { retryAfterSeconds: 1 }))
  }

  head(attempt: Attempt, headers: ParsedHeaders): void {
    this.#headAtMs = this.#parts.now()
    this.#terms.receiver.head(attempt, headers)
  }

  data(attempt: Attempt, chunk: Buffer): void {
    this.#terms.receiver.data(attempt, chunk)
  }

  ended(attempt: Attempt, cause: Error | null): void {
    try {
      const failure = cause ?? this.#finish(attempt)
      if (failure === null) this.#report(attempt, 'ok', null)
      else this.#fail(attempt, failure)
    } catch (error) {
      this.#terms.reject(asError(error))
    }
  }

  #try(node: Node): void {
    const attempt = new Attempt(node, this)
    this.#startedAtMs = this.#parts.now()
    this.#headAtMs = 0
    this.#terms.receiver.began(attempt)
    attempt.start(this.#terms.request)
  }

  /** Hands the whole answer over; returns why not if the answer turns out to be one that cannot be written. */
  #finish(attempt: Attempt): Error | null {
    try {
      this.#terms.resolve(this.#terms.receiver.whole(attempt))
      return null
    } catch (error) {
      return asError(error)
    }
  }

  #fail(attempt: Attempt, cause: Error): void {
    this.#report(attempt, attempt.isCancelled ? 'cancelled' : faultOf(cause, attempt), cause)
    const { hop, receiver, resolve, reject } = this.#terms
    const next = attempt.isCancelled ? null : this.#next(attempt, cause)
    if (next !== null) {
      this.#try(next)
      return
    }
    const rest = receiver.broken(attempt)
    if (rest !== null) resolve(rest)
    else
      reject(
        failureOf(cause, { sent: attempt.sent, status: attempt.status, repeatable: hop.retry === 'always' }),
      )
  }

  /** The node to repeat on, or null if this failure stands. */
  #next(attempt: Attempt, cause: Error): Node | null {
    this.#tried = [...this.#tried, attempt.node]
    if (!attempt.sent) return isOfTheNode(cause) ? this.#parts.pick(this.#tried) : null
    if (this.#terms.hop.retry !== 'always' || this.#hasRepeated || attempt.status !== 0) return null
    if (faultOf(cause, attempt) === 'timeout' || !this.#parts.budget.spend()) return null
    this.#hasRepeated = true
    // With no other node the same one: a connection it closed as we wrote is the usual reason.
    return this.#parts.pick(this.#tried) ?? attempt.node
  }

  #report(attempt: Attempt, result: AttemptResult, cause: Error | null): void {
    const nowMs = this.#parts.now()
    const startedAtMs = this.#startedAtMs
    learn(attempt.node, {
      result,
      status: attempt.status,
      sent: attempt.sent,
      isOurs: cause !== null && !isOfTheNode(cause),
      isHeld: this.#terms.hop.headersMs !== undefined,
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

const OURS: ReadonlySet<unknown> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])

/** False for what no other node would do better: our own deadline, a request that undici refuses to write. */
function isOfTheNode(cause: Error): boolean {
  return !(cause instanceof GatewayError) && !('code' in cause && OURS.has(cause.code))
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
