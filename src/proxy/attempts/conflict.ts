import { isRecord } from '../../request/value.ts'
import type { ParsedHeaders } from '../wire/headers.ts'

/** The engine's code of an OptimisticLockingException (BuiltinExceptionCode, since 7.16): another transaction was faster, and this one was rolled back. */
const OPTIMISTIC_LOCKING = 1
/** Upper bound: such an answer is short. */
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

  /** False: it is too long to be an OptimisticLockingException. */
  add(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    this.chunks.push(chunk)
    return this.#bytes <= MOST_BYTES
  }

  /** Whether it reports an OptimisticLockingException. */
  isConflict(): boolean {
    return isConflict(Buffer.concat(this.chunks))
  }
}

/** Whether the body of an engine's 500 reports an OptimisticLockingException. The transaction then took no effect. */
export function isConflict(body: Buffer): boolean {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'))
    return isRecord(parsed) && parsed['code'] === OPTIMISTIC_LOCKING
  } catch {
    return false
  }
}

/** Spreads the repeats so that the same transactions do not collide again. `random` is from 0 to 1. */
export function pauseMsOf(random: number, repeats: number): number {
  return (LEAST_PAUSE_MS + PAUSE_SPREAD_MS * random) * (repeats + 1)
}
