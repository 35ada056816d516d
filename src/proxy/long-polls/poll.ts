import { hash } from 'node:crypto'
import { errors } from 'undici'
import type { Attempt } from '../attempts/attempt.ts'
import type { ParsedHeaders } from '../wire/headers.ts'
import { Collector } from '../attempts/collector.ts'
import type { PollResponse, PollRequest } from './long-polls.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import type { Node } from '../nodes/node.ts'
import type { StartAttempt } from '../../request/attempt-span.ts'
import type { Receiver } from '../attempts/receiver.ts'

/** The owner of a poll. It is notified when the time of the poll is over or its client disconnects. */
export interface PollOwner {
  readonly dismiss: (poll: Poll, end: 'time' | 'left') => void
}

interface PollOptions {
  readonly request: PollRequest
  /** How long the client waits. */
  readonly waitMs: number
  readonly owner: PollOwner
  /** Null if the poll is not traced. */
  readonly startAttempt: StartAttempt | null
}

/**
 * The client's side of a poll. It ends after its own time, independently of the engine's side. Thousands of polls wait at once, so
 * the memory of each poll matters: see docs/runbooks/GatewayLongPollsParked.md.
 */
export class Poll {
  readonly request: PollRequest
  readonly ended: Promise<PollResponse>
  readonly startAttempt: StartAttempt | null
  /** The engine's side of the poll, or null while the poll waits in the gateway. */
  upstreamPoll: UpstreamPoll | null = null
  /** The nodes that refused the poll. */
  refusedBy = NONE
  readonly #owner: PollOwner
  readonly #timer: NodeJS.Timeout
  readonly #onClose = (): void => this.#owner.dismiss(this, 'left')
  #resolve: ((polled: PollResponse) => void) | null = null
  #reject: ((error: Error) => void) | null = null

  constructor({ request, waitMs, owner, startAttempt }: PollOptions) {
    this.request = request
    this.startAttempt = startAttempt
    this.#owner = owner
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#timer = setTimeout(Poll.#onTimeout, waitMs, this)
    request.sink.on('close', this.#onClose)
  }

  resolve(polled: PollResponse): void {
    this.#end()
    this.#resolve?.(polled)
  }

  reject(error: Error): void {
    this.#end()
    this.#reject?.(error)
  }

  static #onTimeout(this: void, poll: Poll): void {
    poll.#owner.dismiss(poll, 'time')
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.request.sink.off('close', this.#onClose)
  }
}

const NONE: readonly Node[] = []

interface UpstreamPollOptions {
  readonly poll: Poll
  /** The time on the gateway's clock after which no engine holds the poll any longer. */
  readonly untilMs: number
}

/**
 * The engine's side of a poll. It is never aborted while the engine may hold it. The engine would not notice the abort and would
 * lock tasks for a closed connection.
 */
export class UpstreamPoll implements Receiver<BufferedResponse> {
  /** The client's side, or null if the client has received a response or has disconnected. */
  poll: Poll | null
  /** True if the poll was sent for a different client from the current one. */
  isAdopted = false
  node: Node | null = null
  readonly #request: PollRequest
  readonly #untilMs: number
  readonly #collector: Collector
  #attempt: Attempt | null = null
  #timer: NodeJS.Timeout | undefined
  #key = ''

  constructor({ poll, untilMs }: UpstreamPollOptions) {
    const { upstreamRequest, limitBytes } = poll.request
    this.poll = poll
    this.#request = poll.request
    this.#untilMs = untilMs
    this.#collector = new Collector(upstreamRequest.method, limitBytes)
    poll.upstreamPoll = this
  }

  /** Detaches the poll from its client. From now on, the poll's own timer ends it if the engine does not. */
  abandon(nowMs: number): void {
    this.poll = null
    this.#key = pollKeyOf(this.#request)
    this.#timer = setTimeout(abortPoll, Math.max(0, this.#untilMs - nowMs), this)
  }

  /** Attaches the poll to another client with the same request. */
  adopt(poll: Poll): void {
    clearTimeout(this.#timer)
    this.poll = poll
    this.isAdopted = true
    poll.upstreamPoll = this
  }

  isFor(key: string): boolean {
    return this.#key === key
  }

  abort(): void {
    this.#attempt?.abort(new errors.HeadersTimeoutError())
  }

  dispose(): void {
    clearTimeout(this.#timer)
  }

  onStart(attempt: Attempt): void {
    this.#attempt = attempt
    this.node = attempt.node
    this.#collector.onStart()
  }

  head(attempt: Attempt, headers: ParsedHeaders): void {
    this.#collector.head(attempt, headers)
  }

  data(attempt: Attempt, chunk: Buffer): void {
    this.#collector.data(attempt, chunk)
  }

  onComplete(attempt: Attempt): BufferedResponse {
    return this.#collector.onComplete(attempt)
  }

  hasDelivered(): boolean {
    return false
  }

  onAbort(): null {
    return null
  }
}

function abortPoll(upstreamPoll: UpstreamPoll): void {
  upstreamPoll.abort()
}

/** Returns a key that is equal for polls that neither an engine nor a client can distinguish. */
export function pollKeyOf({ upstreamRequest, caller }: PollRequest): string {
  const { accept = '', authorization = '' } = upstreamRequest.headers
  const identity = JSON.stringify([caller, upstreamRequest.path, accept, authorization])
  return hash(
    'sha256',
    Buffer.concat([Buffer.from(identity), upstreamRequest.body ?? Buffer.alloc(0)]),
    'base64',
  )
}
