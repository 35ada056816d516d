/** Why a node is ejected. */
export type EjectionReason =
  /** No connection could be opened. */
  | 'refused'
  /** No answer in time, several times in a row. */
  | 'timeout'
  /** It broke the connection, several times in a row. */
  | 'reset'
  /** 502, 503 or 504 several times in a row. An engine's 500 never counts: a faulty request causes one. */
  | 'gateway-error'
  /** The probe had no good answer, twice in a row. */
  | 'probe'
  /** The probe's answer names other engines. */
  | 'wrong-engine'

/** Result of a probe; `ok`: the node answers and has the engine. */
export type ProbeResult = 'ok' | 'refused' | 'probe' | 'wrong-engine'

interface Ejection {
  readonly reason: EjectionReason
  /** No trial before this time. */
  readonly untilMs: number
}

export interface HealthChange {
  /** Null: the node has recovered. */
  readonly reason: EjectionReason | null
  /** What the probe saw, or empty. */
  readonly detail: string
  /** Until the first trial. */
  readonly periodMs: number
}

const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 503, 504])
const FAILURES_IN_ROW = 5
const PROBES_IN_ROW = 2
/** One lost packet does not make a node silent. */
const SILENCES_IN_ROW = 2
const FIRST_PERIOD_MS = 1000
/** After this long without a fault, ejection starts with the shortest period again. */
const FORGET_MS = 60_000
/** After this long a recovered node gets its full share again: its caches and its just-in-time compiler start cold. */
const RAMP_MS = 10_000
const MIN_SHARE = 0.1

export function isGatewayError(status: number): boolean {
  return GATEWAY_ERRORS.has(status)
}

const TOO_MANY_REQUESTS = 429

/** Sent by a proxy in front of the engine, or by an overloaded node: not an answer of the engine itself. */
export function isRejection(status: number): boolean {
  return isGatewayError(status) || status === TOO_MANY_REQUESTS
}

/** The section `health` of the configuration, as far as it is about ejections. */
export interface HealthOptions {
  /** The longest time without a trial, in ms. Default 60,000. */
  readonly maxEjection?: number
}

/** The health of one node, from attempts and probes. Times are of the injected clock. */
export class Health {
  readonly #onChange: (change: HealthChange) => void
  readonly #maxPeriodMs: number
  #ejection: Ejection | null = null
  #failures = 0
  #badProbes = 0
  #silences = 0
  #answeredAtMs = -Infinity
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

  /** It cannot be reached, or is another engine: no load makes it useful. */
  get isUnreachable(): boolean {
    return this.reason === 'refused' || this.reason === 'wrong-engine'
  }

  /** It does not answer at all: a request to it would wait the full time for a connection. */
  get isSilent(): boolean {
    return this.#ejection !== null && this.#silences >= SILENCES_IN_ROW
  }

  /** A request that started before the last change says nothing about the time after it. */
  answered(status: number, startedAtMs: number, nowMs: number): void {
    this.#answeredAtMs = nowMs
    this.#silences = 0
    if (isGatewayError(status)) return this.failed('gateway-error', startedAtMs, nowMs)
    if (startedAtMs < this.#changedAtMs) return
    this.#failures = 0
    if (this.reason !== null && !this.#isProbeReason()) this.#recover(nowMs)
  }

  /** It neither accepted nor refused a connection in time. Call it before `failed`. */
  silent(startedAtMs: number): void {
    // Answers in between came over another connection.
    if (startedAtMs > this.#answeredAtMs) this.#silences += 1
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
    // A garbage collection pause is no reason to eject.
    else if (result !== 'probe' || this.#badProbes >= PROBES_IN_ROW) this.#eject(result, nowMs, detail)
  }

  /** True if the next request may be the trial that ends the ejection; then false for a while. */
  takeTrial(nowMs: number): boolean {
    if (this.#ejection === null || nowMs < this.#ejection.untilMs || nowMs < this.#trialAtMs) return false
    this.#trialAtMs = nowMs + this.#periodMs
    return true
  }

  /** Until the next probe; `usualMs` for a healthy node. */
  probeInMs(usualMs: number, nowMs: number): number {
    if (this.#ejection !== null)
      return Math.min(usualMs, Math.max(this.#ejection.untilMs - nowMs, FIRST_PERIOD_MS))
    return this.#badProbes > 0 ? Math.min(usualMs, FIRST_PERIOD_MS) : usualMs
  }

  /** Share of its weight; grows to 1 after a recovery. */
  shareAt(nowMs: number): number {
    const ramped = (nowMs - this.#recoveredAtMs) / RAMP_MS
    return ramped >= 1 ? 1 : Math.max(MIN_SHARE, ramped)
  }

  /** A good probe at once ends what a probe can see. What only requests have seen lasts for its period. */
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

  /** A trial failed, or another fault was found than the current one. */
  #worsen(seen: EjectionReason, nowMs: number, detail: string): void {
    const ejection = this.#ejection
    if (ejection === null) return
    const reason = this.#hasPrecedence(seen) ? seen : ejection.reason
    if (nowMs >= ejection.untilMs) this.#extendEjection(reason, nowMs)
    else this.#ejection = { ...ejection, reason }
    if (reason !== ejection.reason) this.#onChange({ reason, detail, periodMs: this.#periodMs })
  }

  /** An unreachable node is worse than one with bad answers. Of probe results the last one counts. */
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
