/** The reason why a node is ejected. */
export type EjectionReason =
  /** No connection could be opened. */
  | 'refused'
  /** The node did not respond in time, several times in a row. */
  | 'timeout'
  /** The node closed the connection during a request, several times in a row. */
  | 'reset'
  /** 502, 503 or 504 several times in a row. An engine's 500 never counts, because a faulty request can cause it. */
  | 'gateway-error'
  /** The probe got no valid response, twice in a row. */
  | 'probe'
  /** The response to the probe names other engines. */
  | 'wrong-engine'

/** The result of a probe. `ok`: the node responds and has the engine. */
export type ProbeResult = 'ok' | 'refused' | 'probe' | 'wrong-engine'

interface Ejection {
  readonly reason: EjectionReason
  /** No trial request is sent before this time. */
  readonly untilMs: number
}

export interface HealthChange {
  /** Null if the node has recovered. */
  readonly reason: EjectionReason | null
  /** The finding of the probe, or an empty string. */
  readonly detail: string
  /** The time until the first trial request. */
  readonly periodMs: number
}

const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 503, 504])
const FAILURES_IN_ROW = 5
const PROBES_IN_ROW = 2
/** The number of connect timeouts after which a node counts as silent. One lost packet is not enough. */
const SILENCES_IN_ROW = 2
const FIRST_PERIOD_MS = 1000
/** After this time without a fault, ejection starts with the shortest period again. */
const FORGET_MS = 60_000
/** The time after which a recovered node gets its full share again. Its caches and its just-in-time compiler start cold. */
const RAMP_MS = 10_000
const MIN_SHARE = 0.1

export function isGatewayError(status: number): boolean {
  return GATEWAY_ERRORS.has(status)
}

const TOO_MANY_REQUESTS = 429

/** Returns true for a status that a proxy in front of the engine or an overloaded node sends, but not the engine itself. */
export function isRejection(status: number): boolean {
  return isGatewayError(status) || status === TOO_MANY_REQUESTS
}

/** The options of the configuration section `health` that concern ejections. */
export interface HealthOptions {
  /** The longest period without a trial request, in ms. Default: 60,000. */
  readonly maxEjection?: number
}

/** The health of one node, derived from attempts and probes. All times are times of the injected clock. */
export class Health {
  readonly #onChange: (change: HealthChange) => void
  readonly #maxPeriodMs: number
  #ejection: Ejection | null = null
  #failures = 0
  #badProbes = 0
  #silences = 0
  #respondedAtMs = -Infinity
  #periods = 0
  #periodMs = 0
  #trialAtMs = -Infinity
  #changedAtMs = -Infinity
  #recoveredAtMs = -Infinity

  constructor(onChange: (change: HealthChange) => void, { maxEjection = 60_000 }: HealthOptions = {}) {
    this.#onChange = onChange
    this.#maxPeriodMs = maxEjection
  }

  get reason(): EjectionReason | null {
    return this.#ejection?.reason ?? null
  }

  /** True if the node cannot be reached or belongs to another engine. It is then not used, however high the load of the other nodes is. */
  get isUnreachable(): boolean {
    return this.reason === 'refused' || this.reason === 'wrong-engine'
  }

  /** True if the node does not react at all. A request to it would wait for the full connect timeout. */
  get isSilent(): boolean {
    return this.#ejection !== null && this.#silences >= SILENCES_IN_ROW
  }

  /** Records a response. A request that started before the last change of state has no influence on the state after it. */
  recordResponse(status: number, startedAtMs: number, nowMs: number): void {
    this.#respondedAtMs = nowMs
    this.#silences = 0
    if (isGatewayError(status)) return this.failed('gateway-error', startedAtMs, nowMs)
    if (startedAtMs < this.#changedAtMs) return
    this.#failures = 0
    if (this.reason !== null && !this.#isProbeReason()) this.#recover(nowMs)
  }

  /** Records that the node neither accepted nor refused a connection in time. Call it before `failed`. */
  silent(startedAtMs: number): void {
    // A response that arrived in the meantime came over another connection.
    if (startedAtMs > this.#respondedAtMs) this.#silences += 1
  }

  failed(
    reason: 'refused' | 'timeout' | 'reset' | 'gateway-error',
    startedAtMs: number,
    nowMs: number,
  ): void {
    if (startedAtMs < this.#changedAtMs) return
    if (this.#ejection !== null) return this.#worsen(reason, nowMs, '')
    this.#failures += 1
    if (reason === 'refused' || this.#failures >= FAILURES_IN_ROW) this.#eject(reason, nowMs, '')
  }

  probed(result: ProbeResult, nowMs: number, detail: string): void {
    if (result === 'ok') return this.#probedWell(nowMs)
    this.#badProbes += 1
    if (this.#ejection !== null) this.#worsen(result, nowMs, detail)
    // One failed probe is no reason for an ejection, because a garbage collection pause can cause it.
    else if (result !== 'probe' || this.#badProbes >= PROBES_IN_ROW) this.#eject(result, nowMs, detail)
  }

  /** Returns true if the next request may be the trial that ends the ejection. The method then returns false for one ejection period. */
  takeTrial(nowMs: number): boolean {
    if (this.#ejection === null || nowMs < this.#ejection.untilMs || nowMs < this.#trialAtMs) return false
    this.#trialAtMs = nowMs + this.#periodMs
    return true
  }

  /** Returns the time until the next probe. It is `usualMs` for a healthy node. */
  probeInMs(usualMs: number, nowMs: number): number {
    if (this.#ejection !== null)
      return Math.min(usualMs, Math.max(this.#ejection.untilMs - nowMs, FIRST_PERIOD_MS))
    return this.#badProbes > 0 ? Math.min(usualMs, FIRST_PERIOD_MS) : usualMs
  }

  /** Starts with a small share of the node's weight again. Call it when the node is used after a pause. */
  startRamp(nowMs: number): void {
    this.#recoveredAtMs = nowMs
  }

  /** Returns the share of the node's weight. It grows to 1 after a recovery. */
  shareAt(nowMs: number): number {
    const ramped = (nowMs - this.#recoveredAtMs) / RAMP_MS
    return ramped >= 1 ? 1 : Math.max(MIN_SHARE, ramped)
  }

  /** Ends an ejection whose reason a probe can detect at once. An ejection for a reason that only requests detect lasts for its period. */
  #probedWell(nowMs: number): void {
    this.#badProbes = 0
    const ejection = this.#ejection
    if (ejection === null) return
    if (this.#isProbeReason() || this.isUnreachable || nowMs >= ejection.untilMs) this.#recover(nowMs)
  }

  #isProbeReason(): boolean {
    return this.reason === 'probe' || this.reason === 'wrong-engine'
  }

  #eject(reason: EjectionReason, nowMs: number, detail: string): void {
    if (nowMs - this.#recoveredAtMs > FORGET_MS) this.#periods = 0
    this.#extendEjection(reason, nowMs)
    this.#changedAtMs = nowMs
    this.#onChange({ reason, detail, periodMs: this.#periodMs })
  }

  /** Handles a failed trial, or a fault other than the current reason. */
  #worsen(seen: EjectionReason, nowMs: number, detail: string): void {
    const ejection = this.#ejection
    if (ejection === null) return
    const reason = this.#hasPrecedence(seen) ? seen : ejection.reason
    if (nowMs >= ejection.untilMs) this.#extendEjection(reason, nowMs)
    else this.#ejection = { ...ejection, reason }
    if (reason !== ejection.reason) this.#onChange({ reason, detail, periodMs: this.#periodMs })
  }

  /** An unreachable node is worse than a node with error responses. Among results of probes, the last one counts. */
  #hasPrecedence(seen: EjectionReason): boolean {
    return seen === 'refused' || seen === 'wrong-engine' || (seen === 'probe' && this.isUnreachable)
  }

  #extendEjection(reason: EjectionReason, nowMs: number): void {
    this.#periods += 1
    this.#periodMs = Math.min(FIRST_PERIOD_MS * 2 ** (this.#periods - 1), this.#maxPeriodMs)
    this.#ejection = { reason, untilMs: nowMs + this.#periodMs }
  }

  #recover(nowMs: number): void {
    this.#ejection = null
    this.#failures = 0
    this.#badProbes = 0
    this.#silences = 0
    this.#changedAtMs = nowMs
    this.#recoveredAtMs = nowMs
    this.#onChange({ reason: null, detail: '', periodMs: 0 })
  }
}
