import { operatorText, GatewayError } from '../../errors.ts'
import type { WireRequest } from '../attempts/attempt.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import type { LongPollPools } from './long-poll-pools.ts'
import type { Node } from '../nodes/node.ts'
import type { LongPolls, PollCounts, PollResponse, PollRequest } from './long-polls.ts'
import { UpstreamPoll, pollKeyOf, Poll } from './poll.ts'
import { isEmptyList, lockedTasksIn, NO_TASKS, pollRefusalOf } from './poll-response.ts'
import { Queue } from '../attempts/queue.ts'
import { sendWithRetries, type SendOptions } from '../attempts/send-with-retries.ts'
import type { Unlocks } from './unlocks.ts'

/** How a poll ended for its client. `withdrawn`: the decision that permitted it no longer holds. */
export type PollEnd = 'answered' | 'time' | 'left' | 'drain' | 'withdrawn' | 'overload' | 'failed'

export interface PollsOptions {
  readonly pools: LongPollPools
  readonly unlocks: Unlocks
  readonly sendOptions: SendOptions
  readonly requestOf: (upstreamRequest: UpstreamRequest) => WireRequest
  /** The longest time that any client waits. */
  readonly maxHoldMs: number
  readonly maxWaiting: number
  readonly onEnd: (end: PollEnd) => void
  /** Returns the group to which a poll is sent. Default: the nodes have no groups. */
  readonly groupOf?: ((upstreamRequest: UpstreamRequest) => string | undefined) | undefined
  /** Called when a node holds the poll of a client. */
  readonly onParked?: () => void
}

const RETRY_AFTER_SECONDS = 5
const OVERLOAD = {
  message: operatorText`No node of the engine accepts more long polls`,
  retryAfterSeconds: RETRY_AFTER_SECONDS,
}

/** The longest delay of an engine. It checks its polls one after the other and is slow if it has many. After this delay no response is expected. */
const LATE_MS = 30_000
const NO_NODES: readonly Node[] = []

/** The long polls of one engine. Each node holds a bounded number of them. The others wait in the gateway, first come, first served. */
export class Polls implements LongPolls {
  readonly #options: PollsOptions
  /** The waiting polls in order of arrival. */
  readonly #waiting = new Set<Poll>()
  /** Polls that were sent once and must be sent again, before all waiting polls. */
  readonly #returned = new Set<Poll>()
  readonly #sent = new Set<UpstreamPoll>()
  readonly #abandoned = new Set<UpstreamPoll>()
  /** A poll is sent only if its node has a free connection, so it never waits in a queue. */
  readonly #noQueue = new Queue({ max: 0, waitMs: 0 })
  #isDraining = false
  readonly #whenEmpty: (() => void)[] = []

  constructor(options: PollsOptions) {
    this.#options = options
  }

  /** Resolves to the engine's response, or to `[]` when the time of the poll is over. @throws GatewayError */
  ask(request: PollRequest): Promise<PollResponse> {
    const { maxHoldMs, maxWaiting, sendOptions } = this.#options
    if (request.sink.destroyed) return this.#answerAtOnce('left')
    if (this.#isDraining) return this.#answerAtOnce('drain')
    const adopted = this.#findAdoptable(request)
    if (adopted === null && !this.#options.pools.hasNodes) return this.#refuse('failed', 'GW_NO_NODE')
    if (adopted === null && this.#waiting.size >= maxWaiting) return this.#refuse('overload', 'GW_OVERLOADED')
    const waitMs = Math.min(request.holdMs, maxHoldMs)
    // The span is taken now, because the poll may be sent later, while another request is handled.
    const poll = new Poll({ request, waitMs, owner: this, startAttempt: sendOptions.traced?.() ?? null })
    if (adopted !== null) this.#adopt(adopted, poll)
    else this.#waiting.add(poll)
    request.onParked?.(() => this.dismiss(poll, 'withdrawn'))
    this.send()
    return poll.ended
  }

  /** Sends waiting polls to free nodes. Call it when a node can process requests again. */
  send(): void {
    const { pools } = this.#options
    for (const poll of this.#returned) {
      const pollNode = pools.pick(poll.refusedBy, this.#groupOf(poll))
      if (pollNode !== null) this.#sendTo(pollNode, poll)
    }
    for (const poll of this.#waiting) {
      const pollNode = pools.pick(NO_NODES, this.#groupOf(poll))
      if (pollNode === null) return
      this.#sendTo(pollNode, poll)
    }
  }

  #groupOf({ request }: Poll): string | undefined {
    return this.#options.groupOf?.(request.upstreamRequest)
  }

  /** Ends all polls for their clients. New polls then end immediately. */
  drain(): void {
    this.#isDraining = true
    for (const poll of [...this.#returned, ...this.#waiting]) this.dismiss(poll, 'drain')
    for (const { poll } of this.#sent) if (poll !== null) this.dismiss(poll, 'drain')
  }

  leaveDrained(): void {
    for (const upstreamPoll of this.#sent) {
      const { poll } = upstreamPoll
      if (poll !== null && this.#isAtDrainedNode(upstreamPoll)) {
        this.#abandon(upstreamPoll)
        this.#requeue(poll)
      }
    }
    // Without a node, no poll can get a task.
    if (!this.#options.pools.hasNodes)
      for (const poll of [...this.#returned, ...this.#waiting]) this.dismiss(poll, 'drain')
    this.send()
  }

  counts(): PollCounts {
    const abandoned = this.#abandoned.size
    return {
      open: this.#sent.size - abandoned,
      waiting: this.#waiting.size + this.#returned.size,
      abandoned,
    }
  }

  /** Returns the number of polls that this node holds. Without a client they count too, because the node may still lock tasks for them. */
  countAt(name: string): number {
    let count = 0
    for (const { node } of this.#sent) if (node?.name === name) count += 1
    return count
  }

  /** Returns true if this node holds the poll of a connected client. */
  isParkedAt(name: string): boolean {
    for (const { poll, node } of this.#sent) if (poll !== null && node?.name === name) return true
    return false
  }

  /** Closes the pools. Resolves after the engine holds no poll and no task is left to unlock. */
  async close(): Promise<void> {
    if (!this.#isEmpty()) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve))
    await this.#options.unlocks.idle()
    await this.#options.pools.close()
  }

  #isEmpty(): boolean {
    return this.#sent.size + this.#waiting.size + this.#returned.size === 0
  }

  #answerAtOnce(end: PollEnd): Promise<PollResponse> {
    this.#options.onEnd(end)
    return Promise.resolve({ response: NO_TASKS, node: null })
  }

  #refuse(end: PollEnd, code: 'GW_NO_NODE' | 'GW_OVERLOADED'): Promise<PollResponse> {
    this.#options.onEnd(end)
    return Promise.reject(new GatewayError(code, { retryAfterSeconds: RETRY_AFTER_SECONDS }))
  }

  #findAdoptable(request: PollRequest): UpstreamPoll | null {
    if (this.#abandoned.size === 0) return null
    const key = pollKeyOf(request)
    for (const upstreamPoll of this.#abandoned)
      if (upstreamPoll.isFor(key) && !this.#isAtDrainedNode(upstreamPoll)) return upstreamPoll
    return null
  }

  #isAtDrainedNode({ node }: UpstreamPoll): boolean {
    return node !== null && this.#options.pools.isDrained(node)
  }

  #adopt(upstreamPoll: UpstreamPoll, poll: Poll): void {
    this.#abandoned.delete(upstreamPoll)
    upstreamPoll.adopt(poll)
    this.#options.onParked?.()
  }

  #sendTo(pollNode: Node, poll: Poll): void {
    this.#returned.delete(poll)
    this.#waiting.delete(poll)
    const { sendOptions, requestOf, pools } = this.#options
    const { request } = poll
    // The poll has its own timer, so the request needs no timeout.
    const upstreamRequest: UpstreamRequest = {
      ...request.upstreamRequest,
      headersMs: Infinity,
      newTasks: 'none',
    }
    const upstreamPoll = new UpstreamPoll({ poll, untilMs: sendOptions.now() + request.holdMs + LATE_MS })
    this.#sent.add(upstreamPoll)
    const pick = (tried: readonly Node[]): Node | null => {
      if (tried.length === 0) return pollNode
      // A poll without a client is not sent again.
      return upstreamPoll.poll === null ? null : pools.pick([...tried, ...poll.refusedBy])
    }
    sendWithRetries(
      { ...sendOptions, pick, queue: this.#noQueue, slow: null, traced: () => poll.startAttempt },
      upstreamRequest,
      requestOf(upstreamRequest),
      upstreamPoll,
    ).then(
      (response) => this.#answered(upstreamPoll, response),
      (error: Error) => this.#failed(upstreamPoll, error),
    )
    this.#options.onParked?.()
  }

  #answered(upstreamPoll: UpstreamPoll, response: BufferedResponse): void {
    this.#dispose(upstreamPoll)
    const { poll } = upstreamPoll
    if (poll !== null && !poll.request.sink.destroyed) this.#answer(poll, upstreamPoll, response)
    else {
      if (poll !== null) this.#resolve(poll, 'left')
      this.#options.unlocks.unlock(lockedTasksIn(response))
    }
    this.#afterEnd()
  }

  #answer(poll: Poll, upstreamPoll: UpstreamPoll, response: BufferedResponse): void {
    const { node } = upstreamPoll
    // The poll was sent for an earlier client. The time of the current client is not over.
    if (upstreamPoll.isAdopted && isEmptyList(response)) return this.#requeue(poll)
    if (node !== null && pollRefusalOf(response) !== null) {
      this.#options.pools.coolDown(node)
      return this.#tryAnother(poll, node, new GatewayError('GW_OVERLOADED', OVERLOAD))
    }
    this.#end(poll, 'answered')
    poll.resolve({ response, node: node?.name ?? null })
  }

  #failed(upstreamPoll: UpstreamPoll, error: Error): void {
    this.#dispose(upstreamPoll)
    const { poll, node } = upstreamPoll
    const isUnsent = error instanceof GatewayError && error.code === 'GW_NO_NODE'
    if (poll !== null && node !== null && isUnsent) this.#tryAnother(poll, node, error)
    else if (poll !== null) this.#reject(poll, error)
    this.#afterEnd()
  }

  /** Sends the poll again, now or when a node has a free connection. This is safe because no engine has locked a task for it. */
  #tryAnother(poll: Poll, refusing: Node, error: GatewayError): void {
    poll.refusedBy = [...poll.refusedBy, refusing]
    if (this.#options.pools.hasOther(poll.refusedBy)) this.#requeue(poll)
    else this.#reject(poll, error)
  }

  #requeue(poll: Poll): void {
    poll.upstreamPoll = null
    this.#returned.add(poll)
  }

  /** Responds to the client with `[]`. The engine's side remains for the next client with the same request. */
  dismiss(poll: Poll, end: 'time' | 'left' | 'drain' | 'withdrawn'): void {
    if (poll.upstreamPoll !== null) this.#abandon(poll.upstreamPoll)
    this.#resolve(poll, end)
    this.#afterEnd()
  }

  #abandon(upstreamPoll: UpstreamPoll): void {
    upstreamPoll.abandon(this.#options.sendOptions.now())
    this.#abandoned.add(upstreamPoll)
  }

  #resolve(poll: Poll, end: PollEnd): void {
    this.#end(poll, end)
    poll.resolve({ response: NO_TASKS, node: null })
  }

  #reject(poll: Poll, error: Error): void {
    const isOutdated = error instanceof GatewayError && error.code === 'GW_DECISION_OUTDATED'
    this.#end(poll, isOutdated ? 'withdrawn' : 'failed')
    poll.reject(error)
  }

  #end(poll: Poll, end: PollEnd): void {
    this.#returned.delete(poll)
    this.#waiting.delete(poll)
    poll.upstreamPoll = null
    this.#options.onEnd(end)
  }

  #dispose(upstreamPoll: UpstreamPoll): void {
    upstreamPoll.dispose()
    this.#sent.delete(upstreamPoll)
    this.#abandoned.delete(upstreamPoll)
  }

  #afterEnd(): void {
    this.send()
    if (!this.#isEmpty()) return
    for (const resolve of this.#whenEmpty.splice(0)) resolve()
  }
}
