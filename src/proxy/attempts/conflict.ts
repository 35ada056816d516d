import type { ParsedHeaders } from '../wire/headers.ts'

/** As the engine numbers an OptimisticLockingException (BuiltinExceptionCode, since 7.16): another transaction was quicker, this one was rolled back. */
const OPTIMISTIC_LOCKING = 1
/** Such an answer is a short one. */
const MOST_BYTES = 16 * 1024
const LEAST_PAUSE_MS = 10
const PAUSE_SPREAD_MS = 40

/** An engine's 500 that is held back until it is known what it says. */
export class HeldBack {
  readonly headers: ParsedHeaders
  readonly chunks: Buffer[] = []
  #bytes = 0

  constructor(headers: ParsedHeaders) {
    this.headers = headers
  }

  /** False: it is too long to be what it was held back for. */
  add(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    this.chunks.push(chunk)
    return this.#bytes <= MOST_BYTES
  }

  /** Whether it says that the transaction lost a race. */
  isConflict(): boolean {
    return isConflict(Buffer.concat(this.chunks))
  }
}

/** Whether the body of an engine's 500 says that another transaction was quicker: then nothing of this one took effect. */
export function isConflict(body: Buffer): boolean {
  try {
    const said: unknown = JSON.parse(body.toString('utf8'))
    return typeof said === 'object' && said !== null && 'code' in said && said.code === OPTIMISTIC_LOCKING
  } catch {
    return false
  }
}

/** So that those who raced do not meet again. `random` is from 0 to 1. */
export function pauseMsOf(random: number, repeats: number): number {
  return (LEAST_PAUSE_MS + PAUSE_SPREAD_MS * random) * (repeats + 1)
}
