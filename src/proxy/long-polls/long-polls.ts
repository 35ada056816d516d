import type { ServerResponse } from 'node:http'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'

/** The long polls of one engine. */
export interface LongPolls {
  /** Resolves to the engine's response, or to `[]` when the time of the poll is over. @throws GatewayError */
  ask(request: PollRequest): Promise<PollResponse>
  /** Ends all polls for their clients. New polls then end immediately. */
  drain(): void
  /** Sends the polls of drained nodes to other nodes. If no node is left, they end for their clients. Call it after a drain of nodes. */
  leaveDrained(): void
  counts(): PollCounts
}

/** The data of a client's poll that the gateway needs. */
export interface PollRequest {
  readonly upstreamRequest: UpstreamRequest
  /** How long the engine may hold the poll, as its body requests. */
  readonly holdMs: number
  /** The caller. No other caller receives tasks that were locked for this poll. */
  readonly caller: string
  /** The sink for the response. If it closes, the client has disconnected. */
  readonly sink: Pick<ServerResponse, 'destroyed' | 'on' | 'off'>
  readonly limitBytes: number
  /** Receives a function that immediately responds to the client with `[]`. It must not be called after the poll has ended. */
  readonly onParked?: (end: () => void) => void
}

export interface PollResponse {
  readonly response: BufferedResponse
  /** The node that sent the response, or null if the gateway itself responds. */
  readonly node: string | null
}

export interface PollCounts {
  /** The number of polls that a node holds for a client. */
  readonly open: number
  /** The number of polls that wait in the gateway. */
  readonly waiting: number
  /** The number of polls that a node holds although their client has disconnected. */
  readonly abandoned: number
}
