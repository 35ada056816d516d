import type { Attempt } from './attempt.ts'
import type { ParsedHeaders } from '../wire/headers.ts'

/** Takes the answer of whichever attempt brings one. */
export interface Receiver<T> {
  /** A try starts: this is the one to pause or cancel from now on. */
  onStart(attempt: Attempt): void
  head(attempt: Attempt, headers: ParsedHeaders): void
  data(attempt: Attempt, chunk: Buffer): void
  onComplete(attempt: Attempt): T
  /** Something of this answer has been given out: no other one can take its place. */
  hasGiven(): boolean
  /** There will be no whole answer. The result if one can still be told, null if nothing has been given out: then it is an error. */
  onAbort(attempt: Attempt): T | null
  /** No try has started yet, and none will once `giveUp` is called. Default: it waits to the end. */
  waits?(giveUp: (result: T) => void): void
}
