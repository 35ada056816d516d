import type { IncomingMessage } from 'node:http'
import type { RequestContext } from './context.ts'

/** The state of a request that the fast path hands over to the framework. */
export interface HandOver {
  readonly context: RequestContext
  /** Settles when the last of the passed stages is over. Rejects with its refusal. Null if it is over. */
  readonly waiting: Promise<void> | null
}

/** The requests that the framework continues instead of beginning them. */
export type HandOvers = WeakMap<IncomingMessage, HandOver>
