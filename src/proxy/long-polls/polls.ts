import { GatewayError } from '../../errors.ts'
import type { WireRequest } from '../attempts/attempt.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { Answer } from '../../request/answer.ts'
import type { LongPollPools } from './long-poll-pools.ts'
import type { Node } from '../nodes/node.ts'
import { HeldPoll, pollKeyOf, Poll, type Polled, type PollRequest } from './poll.ts'
import { isEmptyList, lockedTasksIn, NO_TASKS, pollRefusalOf } from './poll-answer.ts'
import { Queue } from '../attempts/queue.ts'
import { sendWithRetries, type SendOptions } from '../attempts/send-with-retries.ts'
import type { Unlocks } from './unlocks.ts'

/** How a poll ended for its client. */
export type PollEnd = 'answered' | 'time' | 'left' | 'drain' | 'overload' | 'failed'

export interface PollCounts {
  /** Held by a node for a client. */
  readonly open: number
  /** In the gateway. */
  readonly waiting: number
  /** Held by a node for nobody. */
  readonly abandoned: number
}

export interface PollsOptions {
  readonly pools: LongPollPools
  readonly unlocks: Unlocks
  readonly parts: SendOptions
  readonly requestOf: (upstreamRequest: UpstreamRequest) => WireRequest
  /** No client waits longer. */
  readonly maxHoldMs: number
  readonly maxWaiting: number
  readonly onEnd: (end: PollEnd) => void
}

const RETRY_AFTER_SECONDS = 5
const OVERLOAD = {
  message: 'No node of the engine takes more long polls',
  retryAfterSeconds: RETRY_AFTER_SECONDS,
}

/** An engine looks at its polls one after the other, and with many it is late; this late it will not answer. */
const LATE_MS = 30_000
const NONE: readonly Node[] = []

/** The long polls of one engine: a bounded number at each node, the others in the gateway, first come first served. */
export class Polls {
  readonly #options: PollsOptions
  /** In the order in which they came. */
  readonly #waiting = new Set<Poll>()
  /** Sent before, and to be sent again: before all that wait. */
  readonly #returned = new Set<Poll>()
  readonly #held = new Set<HeldPoll>()
  readonly #abandoned = new Set<HeldPoll>()
  /** A poll that is sent has its place. */
  readonly #noQueue = new Queue({ max: 0, waitMs: 0 })
  #isDraining = false
  readonly #whenEmpty: (() => void)[] = []

  constructor(options: PollsOptions) {
    this.#options = options
  }

  /** The engine's answer, or `[]` at the poll's time. @throws GatewayError */
  ask(request: PollRequest): Promise<Polled> {
    const { maxHoldMs, maxWaiting, parts } = this.#options
    if (request.sink.destroyed) return this.#answerAtOnce('left')
    if (this.#isDraining) return this.#answerAtOnce('drain')
    const adopted = this.#adoptable(request)
    if (adopted === null && !parts.hasNodes) return this.#refuse('failed', 'GW_NO_NODE')
    if (adopted === null && this.#waiting.size >= maxWaiting) return this.#refuse('overload', 'GW_OVERLOADED')
    const poll = new Poll({ request, waitMs: Math.min(request.holdMs, maxHoldMs), owner: this })
    if (adopted !== null) this.#adopt(adopted, poll)
    else this.#waiting.add(poll)
    this.send()
    return poll.ended
  }

  /** Fills the free places; to be called when a node takes requests that took none. */
  send(): void {
    const { pools } = this.#options
    for (const poll of this.#returned) {
      const pollPool = pools.pick(poll.refusedBy)
      if (pollPool !== null) this.#sendTo(pollPool, poll)
    }
    for (const poll of this.#waiting) {
      const pollPool = pools.pick(NONE)
      if (pollPool === null) return
      this.#sendTo(pollPool, poll)
    }
  }

  /** Ends all of them for their clients, and at once those that are still to come. */
  drain(): void {
    this.#isDraining = true
    for (const poll of [...this.#returned, ...this.#waiting]) this.dismiss(poll, 'drain')
    for (const { poll } of this.#held) if (poll !== null) this.dismiss(poll, 'drain')
  }

  counts(): PollCounts {
    const abandoned = this.#abandoned.size
    return {
      open: this.#held.size - abandoned,
      waiting: this.#waiting.size + this.#returned.size,
      abandoned,
    }
  }

  /** When the engine holds none any more, and nothing is left to give back. */
  async close(): Promise<void> {
    if (!this.#isEmpty()) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve))
    await this.#options.unlocks.idle()
    await this.#options.pools.close()
  }

  #isEmpty(): boolean {
    return this.#held.size + this.#waiting.size + this.#returned.size === 0
  }

  #answerAtOnce(end: PollEnd): Promise<Polled> {
    this.#options.onEnd(end)
    return Promise.resolve({ answer: NO_TASKS, node: null })
  }

  #refuse(end: PollEnd, code: 'GW_NO_NODE' | 'GW_OVERLOADED'): Promise<Polled> {
    this.#options.onEnd(end)
    return Promise.reject(new GatewayError(code, { retryAfterSeconds: RETRY_AFTER_SECONDS }))
  }

  #adoptable(request: PollRequest): HeldPoll | null {
    if (this.#abandoned.size === 0) return null
    const key = pollKeyOf(request)
    for (const held of this.#abandoned) if (held.isFor(key)) return held
    return null
  }

  #adopt(held: HeldPoll, poll: Poll): void {
    this.#abandoned.delete(held)
    held.adopt(poll)
  }

  #sendTo(pollPool: Node, poll: Poll): void {
    this.#returned.delete(poll)
    this.#waiting.delete(poll)
    const { parts, requestOf, pools } = this.#options
    const { request } = poll
    // It keeps its time itself.
    const upstreamRequest: UpstreamRequest = { ...request.upstreamRequest, headersMs: Infinity }
    const held = new HeldPoll({ poll, untilMs: parts.now() + request.holdMs + LATE_MS })
    this.#held.add(held)
    const pick = (tried: readonly Node[]): Node | null => {
      if (tried.length === 0) return pollPool
      // For nobody it is not begun anew.
      return held.poll === null ? null : pools.pick([...tried, ...poll.refusedBy])
    }
    sendWithRetries(
      { ...parts, pick, queue: this.#noQueue },
      upstreamRequest,
      requestOf(upstreamRequest),
      held,
    ).then(
      (answer) => this.#answered(held, answer),
      (error: Error) => this.#failed(held, error),
    )
  }

  #answered(held: HeldPoll, answer: Answer): void {
    this.#over(held)
    const { poll } = held
    if (poll !== null && !poll.request.sink.destroyed) this.#answer(poll, held, answer)
    else {
      if (poll !== null) this.#resolve(poll, 'left')
      this.#options.unlocks.give(lockedTasksIn(answer))
    }
    this.#settled()
  }

  #answer(poll: Poll, held: HeldPoll, answer: Answer): void {
    const { node } = held
    // It was sent for another, who came earlier: this one's time is not over.
    if (held.isAdopted && isEmptyList(answer)) return this.#return(poll)
    if (node !== null && pollRefusalOf(answer) !== null) {
      this.#options.pools.coolDown(node)
      return this.#tryAnother(poll, node, new GatewayError('GW_OVERLOADED', OVERLOAD))
    }
    this.#end(poll, 'answered')
    poll.resolve({ answer, node: node?.name ?? null })
  }

  #failed(held: HeldPoll, error: Error): void {
    this.#over(held)
    const { poll, node } = held
    const isUnsent = error instanceof GatewayError && error.code === 'GW_NO_NODE'
    if (poll !== null && node !== null && isUnsent) this.#tryAnother(poll, node, error)
    else if (poll !== null) this.#reject(poll, error)
    this.#settled()
  }

  /** No engine has locked anything for it, so it may be sent once more; now or when there is a place. */
  #tryAnother(poll: Poll, refusing: Node, error: GatewayError): void {
    poll.refusedBy = [...poll.refusedBy, refusing]
    if (this.#options.pools.hasOther(poll.refusedBy)) this.#return(poll)
    else this.#reject(poll, error)
  }

  #return(poll: Poll): void {
    poll.held = null
    this.#returned.add(poll)
  }

  /** `[]` for its client. What the engine holds for it goes on, for whoever asks the same. */
  dismiss(poll: Poll, end: 'time' | 'left' | 'drain'): void {
    const { held } = poll
    if (held !== null) {
      held.abandon(this.#options.parts.now())
      this.#abandoned.add(held)
    }
    this.#resolve(poll, end)
    this.#settled()
  }

  #resolve(poll: Poll, end: PollEnd): void {
    this.#end(poll, end)
    poll.resolve({ answer: NO_TASKS, node: null })
  }

  #reject(poll: Poll, error: Error): void {
    this.#end(poll, 'failed')
    poll.reject(error)
  }

  #end(poll: Poll, end: PollEnd): void {
    this.#returned.delete(poll)
    this.#waiting.delete(poll)
    poll.held = null
    this.#options.onEnd(end)
  }

  #over(held: HeldPoll): void {
    held.over()
    this.#held.delete(held)
    this.#abandoned.delete(held)
  }

  #settled(): void {
    this.send()
    if (!this.#isEmpty()) return
    for (const tell of this.#whenEmpty.splice(0)) tell()
  }
}
