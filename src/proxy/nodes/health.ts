/** Why a node is believed ill. */
export type EjectionReason =
  /** No connection was had. */
  | 'refused'
  /** No answer in time, several times in a row. */
  | 'timeout'
  /** It broke off, several times in a row. */
  | 'reset'
  /** 502, 503 or 504 several times in a row. An engine's 500 never counts: a poisonous body makes one. */
  | 'gateway-error'
  /** The probe had no good answer, twice in a row. */
  | 'probe'
  /** The probe's answer names other engines. */
  | 'wrong-engine'

/** What a probe saw; `ok`: the node, and the engine on it. */
export type ProbeResult = 'ok' | 'refused' | 'probe' | 'wrong-engine'

interface Ejection {
  readonly reason: EjectionReason
  /** No trial before that. */
  readonly untilMs: number
}

export interface HealthChange {
  /** Null: the node is back. */
  readonly reason: EjectionReason | null
  /** What the probe saw, or empty. */
  readonly detail: string
  /** To the first trial. */
  readonly periodMs: number
}

const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 503, 504])
const FAILURES_IN_ROW = 5
const PROBES_IN_ROW = 2
/** One packet that is lost is no silence. */
const SILENCES_IN_ROW = 2
const FIRST_PERIOD_MS = 1000
const LONGEST_PERIOD_MS = 60_000
/** A node that was well so long begins anew with the shortest period. */
const FORGIVEN_MS = 60_000
/** A node that comes back gets its whole share after this long: its caches and its just-in-time compiler are cold. */
const RAMP_MS = 10_000
const LEAST_SHARE = 0.1

export function isGatewayError(status: number): boolean {
  return GATEWAY_ERRORS.has(status)
}

const TOO_MANY_REQUESTS = 429

/** Said by what stands before the engine, or by a node that has too much to do: not the engine's own word. */
export function isTurnedAway(status: number): boolean {
  return isGatewayError(status) || status === TOO_MANY_REQUESTS
}

/** What is believed of one node, from the tries on it and from probes. Times are of the clock that is passed in. */
export class Health {
  readonly #changed: (change: HealthChange) => void
  #ejection: Ejection | null = null
  #failures = 0
  #badProbes = 0
  #silences = 0
  #answeredAtMs = -Infinity
  #periods = 0
  #periodMs = 0
  #trialAtMs = -Infinity
  #changedAtMs = -Infinity
  #returnedAtMs = -Infinity

  constructor(changed: (change: HealthChange) => void) {
    this.#changed = changed
  }

  get reason(): EjectionReason | null {
    return this.#ejection?.reason ?? null
  }

  /** It cannot be reached, or is not this engine: no load makes it useful. */
  get isUnreachable(): boolean {
    return this.reason === 'refused' || this.reason === 'wrong-engine'
  }

  /** Nothing is heard of it at all: whoever waits for a connection to it waits the whole time for one. */
  get isSilent(): boolean {
    return this.#ejection !== null && this.#silences >= SILENCES_IN_ROW
  }

  /** What began before the last change says nothing about the time after it. */
  answered(status: number, startedAtMs: number, nowMs: number): void {
    this.#answeredAtMs = nowMs
    this.#silences = 0
    if (isGatewayError(status)) return this.failed('gateway-error', startedAtMs, nowMs)
    if (startedAtMs < this.#changedAtMs) return
    this.#failures = 0
    if (this.reason !== null && !this.#isOfProbe()) this.#return(nowMs)
  }

  /** It neither took nor refused a connection in time. To be said before `failed`. */
  silent(startedAtMs: number): void {
    // What was answered meanwhile came over another connection.
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

  probed(verdict: ProbeResult, nowMs: number, detail: string): void {
    if (verdict === 'ok') return this.#probedWell(nowMs)
    this.#badProbes += 1
    if (this.#ejection !== null) this.#worsen(verdict, nowMs, detail)
    // A pause of its garbage collector is no reason yet.
    else if (verdict !== 'probe' || this.#badProbes >= PROBES_IN_ROW) this.#eject(verdict, nowMs, detail)
  }

  /** True if the next request may be the trial that brings the node back; then not again for a while. */
  takeTrial(nowMs: number): boolean {
    if (this.#ejection === null || nowMs < this.#ejection.untilMs || nowMs < this.#trialAtMs) return false
    this.#trialAtMs = nowMs + this.#periodMs
    return true
  }

  /** Until the next probe; `usualMs` while all is well. */
  probeInMs(usualMs: number, nowMs: number): number {
    if (this.#ejection !== null)
      return Math.min(usualMs, Math.max(this.#ejection.untilMs - nowMs, FIRST_PERIOD_MS))
    return this.#badProbes > 0 ? Math.min(usualMs, FIRST_PERIOD_MS) : usualMs
  }

  /** Of its weight: grows to 1 after a return. */
  shareAt(nowMs: number): number {
    const ramped = (nowMs - this.#returnedAtMs) / RAMP_MS
    return ramped >= 1 ? 1 : Math.max(LEAST_SHARE, ramped)
  }

  /** What a probe can see ends with a good one at once. What only requests have seen lasts its time. */
  #probedWell(nowMs: number): void {
    this.#badProbes = 0
    const ejection = this.#ejection
    if (ejection === null) return
    if (this.#isOfProbe() || this.isUnreachable || nowMs >= ejection.untilMs) this.#return(nowMs)
  }

  #isOfProbe(): boolean {
    return this.reason === 'probe' || this.reason === 'wrong-engine'
  }

  #eject(reason: EjectionReason, nowMs: number, detail: string): void {
    if (nowMs - this.#returnedAtMs > FORGIVEN_MS) this.#periods = 0
    this.#lengthen(reason, nowMs)
    this.#changedAtMs = nowMs
    this.#changed({ reason, detail, periodMs: this.#periodMs })
  }

  /** A trial failed, or another fault is seen than the one that is known. */
  #worsen(seen: EjectionReason, nowMs: number, detail: string): void {
    const ejection = this.#ejection
    if (ejection === null) return
    const reason = this.#replaces(seen) ? seen : ejection.reason
    if (nowMs >= ejection.untilMs) this.#lengthen(reason, nowMs)
    else this.#ejection = { ...ejection, reason }
    if (reason !== ejection.reason) this.#changed({ reason, detail, periodMs: this.#periodMs })
  }

  /** To be away is worse than to answer badly; of what probes see, the last one counts. */
  #replaces(seen: EjectionReason): boolean {
    return seen === 'refused' || seen === 'wrong-engine' || (seen === 'probe' && this.isUnreachable)
  }

  #lengthen(reason: EjectionReason, nowMs: number): void {
    this.#periods += 1
    this.#periodMs = Math.min(FIRST_PERIOD_MS * 2 ** (this.#periods - 1), LONGEST_PERIOD_MS)
    this.#ejection = { reason, untilMs: nowMs + this.#periodMs }
  }

  #return(nowMs: number): void {
    this.#ejection = null
    this.#failures = 0
    this.#badProbes = 0
    this.#silences = 0
    this.#changedAtMs = nowMs
    this.#returnedAtMs = nowMs
    this.#changed({ reason: null, detail: '', periodMs: 0 })
  }
}
