/** Longer than this a node is not held to have closed a kept connection by chance. */
const DOUBTED_MS = 10_000
// Each connection of its own leaves a port in TIME_WAIT for a minute, of 28,000 to one address: never more than 19,000.
const MOST_AT_ONCE = 10_000
const MOST_PER_SECOND = 150

/**
 * Whether a node's kept connections can be relied on. A node that closes idle ones may do it while a request is on its
 * way, and what became of that request nobody can tell.
 */
export class KeepAlive {
  #doubtedUntilMs = -Infinity
  #left = MOST_AT_ONCE
  #paidAtMs = -Infinity

  /** A kept connection broke as it was used. */
  lost(nowMs: number): void {
    this.#doubtedUntilMs = nowMs + DOUBTED_MS
  }

  /** @returns whether a request that cannot be repeated is to have a connection of its own: for a while after a loss, as far as there are ports */
  takeSingle(nowMs: number): boolean {
    if (nowMs >= this.#doubtedUntilMs) return false
    const earned = ((nowMs - this.#paidAtMs) * MOST_PER_SECOND) / 1000
    this.#left = Math.min(MOST_AT_ONCE, this.#left + earned)
    this.#paidAtMs = nowMs
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
