import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { errors } from 'undici'
import type { Attempt } from '../attempts/attempt.ts'
import type { ParsedHeaders } from '../wire/headers.ts'
import { Collector } from '../attempts/collector.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { Answer } from '../../request/answer.ts'
import type { Node } from '../nodes/node.ts'
import type { Receiver } from '../attempts/receiver.ts'

/** A client's poll, as far as the gateway has to know it. */
export interface PollRequest {
  readonly upstreamRequest: UpstreamRequest
  /** How long the engine is asked to hold it: its body says so. */
  readonly holdMs: number
  /** Who asks: nobody else is given what was locked for him. */
  readonly caller: string
  /** Where the answer goes; who closes it has left. */
  readonly sink: Pick<ServerResponse, 'destroyed' | 'on' | 'off'>
  readonly limitBytes: number
}

export interface Polled {
  readonly answer: Answer
  /** Null: it is the gateway's own. */
  readonly node: string | null
}

/** Whom a poll tells that it ends by itself. */
export interface PollOwner {
  readonly dismiss: (poll: Poll, end: 'time' | 'left') => void
}

interface PollOptions {
  readonly request: PollRequest
  /** How long its client waits. */
  readonly waitMs: number
  readonly owner: PollOwner
}

/**
 * The client's side: it ends at its time, whatever becomes of the engine's side. Thousands wait at once: what one holds
 * counts, see docs/runbooks/long-polls.md.
 */
export class Poll {
  readonly request: PollRequest
  readonly ended: Promise<Polled>
  /** The engine's side; null while it waits in the gateway. */
  held: HeldPoll | null = null
  /** Lanes whose engine takes no more polls. */
  refusedBy = NONE
  readonly #owner: PollOwner
  readonly #timer: NodeJS.Timeout
  readonly #onClose = (): void => this.#owner.dismiss(this, 'left')
  #resolve: ((polled: Polled) => void) | null = null
  #reject: ((error: Error) => void) | null = null

  constructor({ request, waitMs, owner }: PollOptions) {
    this.request = request
    this.#owner = owner
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#timer = setTimeout(Poll.#endInTime, waitMs, this)
    request.sink.on('close', this.#onClose)
  }

  resolve(polled: Polled): void {
    this.#end()
    this.#resolve?.(polled)
  }

  reject(error: Error): void {
    this.#end()
    this.#reject?.(error)
  }

  static #endInTime(this: void, poll: Poll): void {
    poll.#owner.dismiss(poll, 'time')
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.request.sink.off('close', this.#onClose)
  }
}

const NONE: readonly Node[] = []

interface HeldOptions {
  readonly poll: Poll
  /** Of the gateway's clock; no engine holds a poll longer. */
  readonly untilMs: number
}

/**
 * The engine's side of a poll. It is never cut while the engine may hold it: an engine does not notice, and would lock
 * tasks for a connection that is gone.
 */
export class HeldPoll implements Receiver<Answer> {
  /** Null: its client has been answered, or has left. */
  poll: Poll | null
  /** Its client is another one than it was sent for. */
  isAdopted = false
  node: Node | null = null
  readonly #request: PollRequest
  readonly #untilMs: number
  readonly #collector: Collector
  #attempt: Attempt | null = null
  #timer: NodeJS.Timeout | undefined
  #key = ''

  constructor({ poll, untilMs }: HeldOptions) {
    const { upstreamRequest, limitBytes } = poll.request
    this.poll = poll
    this.#request = poll.request
    this.#untilMs = untilMs
    this.#collector = new Collector(upstreamRequest.method, limitBytes)
    poll.held = this
  }

  /** Its client has gone. From now on it is its own timer that ends it, should the engine never do. */
  abandon(nowMs: number): void {
    this.poll = null
    this.#key = pollKeyOf(this.#request)
    this.#timer = setTimeout(giveUp, Math.max(0, this.#untilMs - nowMs), this)
  }

  /** A client that asks the same takes the place of the one that has gone. */
  adopt(poll: Poll): void {
    clearTimeout(this.#timer)
    this.poll = poll
    this.isAdopted = true
    poll.held = this
  }

  isFor(key: string): boolean {
    return this.#key === key
  }

  cut(): void {
    this.#attempt?.abort(new errors.HeadersTimeoutError())
  }

  over(): void {
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

  onComplete(attempt: Attempt): Answer {
    return this.#collector.onComplete(attempt)
  }

  hasGiven(): boolean {
    return false
  }

  onAbort(): null {
    return null
  }
}

function giveUp(held: HeldPoll): void {
  held.cut()
}

/** The same for polls that an engine and a client could not tell apart. */
export function pollKeyOf({ upstreamRequest, caller }: PollRequest): string {
  const { accept = '', authorization = '' } = upstreamRequest.headers
  const about = JSON.stringify([caller, upstreamRequest.path, accept, authorization])
  return hash(
    'sha256',
    Buffer.concat([Buffer.from(about), upstreamRequest.body ?? Buffer.alloc(0)]),
    'base64',
  )
}
