import type { Attempt } from './attempt.ts'
import type { ParsedHeaders } from '../wire/headers.ts'

/** Receives the answer of the attempt that succeeds. */
export interface Receiver<T> {
  /** An attempt starts. Pause and cancel apply to it from now on. */
  onStart(attempt: Attempt): void
  head(attempt: Attempt, headers: ParsedHeaders): void
  data(attempt: Attempt, chunk: Buffer): void
  onComplete(attempt: Attempt): T
  /** Part of this answer has been delivered. No other answer can replace it. */
  hasDelivered(): boolean
  /** The answer will not complete. Returns the result if it can still be reported; null if nothing was delivered, which is an error. */
  onAbort(attempt: Attempt): T | null
  /** The request onQueued in the queue. No attempt starts after a call of `giveUp`. Default: it onQueued until its time is over. */
  onQueued?(giveUp: (result: T) => void): void
}
