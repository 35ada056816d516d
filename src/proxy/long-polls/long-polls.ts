import type { ServerResponse } from 'node:http'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { Answer } from '../../request/answer.ts'

/** The long polls of one engine. */
export interface LongPolls {
  /** Resolves to the engine's answer, or to `[]` at the poll's time. @throws GatewayError */
  ask(request: PollRequest): Promise<Polled>
  /** Ends all polls for their clients, and from now on new ones at once. */
  drain(): void
  counts(): PollCounts
}

/** A client's poll, as far as the gateway needs to know it. */
export interface PollRequest {
  readonly upstreamRequest: UpstreamRequest
  /** How long the engine may hold it, as its body requests. */
  readonly holdMs: number
  /** The caller: nobody else receives tasks that were locked for this poll. */
  readonly caller: string
  /** Receives the answer; when it closes, the client has disconnected. */
  readonly sink: Pick<ServerResponse, 'destroyed' | 'on' | 'off'>
  readonly limitBytes: number
  /** Receives a function that answers the client with `[]` now. Once the poll has ended, it must not be called. */
  readonly onParked?: (end: () => void) => void
}

export interface Polled {
  readonly answer: Answer
  /** Null: the answer is the gateway's own. */
  readonly node: string | null
}

export interface PollCounts {
  /** Held by a node for a client. */
  readonly open: number
  /** Waiting in the gateway. */
  readonly waiting: number
  /** Held by a node without a client. */
  readonly abandoned: number
}
