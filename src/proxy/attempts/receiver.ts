import type { Duplex } from 'node:stream'
import type { Attempt } from './attempt.ts'
import type { ParsedHeaders } from '../wire/headers.ts'

/** Receives the response of the attempt that succeeds. */
export interface Receiver<T> {
  /** Called when an attempt starts. From then on, pause and cancel apply to this attempt. */
  onStart(attempt: Attempt): void
  head(attempt: Attempt, headers: ParsedHeaders): void
  data(attempt: Attempt, chunk: Buffer): void
  /** Receives the connection after 101. `onComplete` follows. Default: the connection is closed. */
  upgraded?(headers: ParsedHeaders, socket: Duplex): void
  onComplete(attempt: Attempt): T
  /** Returns true if a part of the response has been delivered. No other response can replace it then. */
  hasDelivered(): boolean
  /** Called if the response is incomplete. Returns the result if a part was delivered. Returns null if nothing was delivered, which is an error. */
  onAbort(attempt: Attempt): T | null
  /** Called when the request waits in the queue. After a call of `giveUp` no attempt starts. Default: it waits until its time is over. */
  onQueued?(giveUp: (result: T) => void): void
}
