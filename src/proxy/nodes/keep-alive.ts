/** After this long, a node is no longer suspected of closing idle connections. */
const SUSPECT_MS = 10_000
// Each dedicated connection leaves a port in TIME_WAIT for a minute, of 28,000 to one address. These bounds keep it below 19,000.
const MAX_AT_ONCE = 10_000
const MAX_PER_SECOND = 150

/**
 * Whether a node's persistent connections are reliable. A node may close an idle connection while a request is on its way
 * to it; the outcome of that request is then unknown. Clients cannot avoid the race: RFC 9112 section 9.5,
 * github.com/nodejs/undici/issues/3492 and github.com/nodejs/node/issues/47130.
 */
export class KeepAlive {
  #suspectUntilMs = -Infinity
  #tokens = MAX_AT_ONCE
  #refilledAtMs = -Infinity

  /** A persistent connection broke when it was reused. */
  onStale(nowMs: number): void {
    this.#suspectUntilMs = nowMs + SUSPECT_MS
  }

  /** @returns whether a request that cannot be repeated needs a dedicated connection: for a while after a broken one, while ports last */
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
