import { isRecord, jsonValueOf } from '../../request/value.ts'
import type { ParsedHeaders } from '../wire/headers.ts'

/** The code of an OptimisticLockingException (BuiltinExceptionCode, since 7.16): another transaction was faster, and this one was rolled back. */
const OPTIMISTIC_LOCKING = 1
/** The largest body that is checked for the code, because such a response is short. */
const MOST_BYTES = 16 * 1024
const LEAST_PAUSE_MS = 10
const PAUSE_SPREAD_MS = 40

/** An engine's 500 that is buffered until its code is known. */
export class BufferedError {
  readonly headers: ParsedHeaders
  readonly chunks: Buffer[] = []
  #bytes = 0

  constructor(headers: ParsedHeaders) {
    this.headers = headers
  }

  /** Adds a chunk. Returns false if the response is too long to be an OptimisticLockingException. */
  add(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    this.chunks.push(chunk)
    return this.#bytes <= MOST_BYTES
  }

  /** Returns true if the response reports an OptimisticLockingException. */
  isConflict(): boolean {
    return isConflict(Buffer.concat(this.chunks))
  }
}

/** Returns true if the body of an engine's 500 reports an OptimisticLockingException. The transaction then had no effect. */
export function isConflict(body: Buffer): boolean {
  const error = jsonValueOf(body)
  return isRecord(error) && error['code'] === OPTIMISTIC_LOCKING
}

/** Returns the pause before a repeat. It varies, so that the same transactions do not collide again. `random` is from 0 to 1. */
export function pauseMsOf(random: number, repeats: number): number {
  return (LEAST_PAUSE_MS + PAUSE_SPREAD_MS * random) * (repeats + 1)
}
