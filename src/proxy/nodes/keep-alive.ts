/** How long after a broken connection the gateway assumes that a node closes idle connections. */
const SUSPECT_MS = 10_000
// Each dedicated connection leaves a port in TIME_WAIT for a minute. One address has 28,000 ports. These limits keep the number below 19,000.
const MAX_AT_ONCE = 10_000
const MAX_PER_SECOND = 150

/**
 * Tracks whether the persistent connections of a node are reliable. A node may close an idle connection while a request is in
 * transit. The outcome of that request is then unknown. Clients cannot avoid this race: RFC 9112 section 9.5,
 * github.com/nodejs/undici/issues/3492 and github.com/nodejs/node/issues/47130.
 */
export class KeepAlive {
  #suspectUntilMs = -Infinity
  #tokens = MAX_AT_ONCE
  #refilledAtMs = -Infinity

  /** Records that a persistent connection broke when it was reused. */
  onStale(nowMs: number): void {
    this.#suspectUntilMs = nowMs + SUSPECT_MS
  }

  /**
   * Returns true if a request that cannot be retried needs a dedicated connection. This is the case for 10 s after a persistent
   * connection broke, within the limits for ports.
   */
  takeDedicated(nowMs: number): boolean {
    if (nowMs >= this.#suspectUntilMs) return false
    const refill = ((nowMs - this.#refilledAtMs) * MAX_PER_SECOND) / 1000
    this.#tokens = Math.min(MAX_AT_ONCE, this.#tokens + refill)
    this.#refilledAtMs = nowMs
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
