import { setTimeout as delay } from 'node:timers/promises'
import type { EngineConfig } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { isLater, isZero, type Shift } from '../proxy/nodes/shift.ts'
import type { SharedValues } from '../redis/shared-values.ts'
import type { Component } from './component.ts'
import { adoptShared, sharedNameOf, type SharedShiftState, sharedStateIn, shiftSettingsId } from './shifts.ts'

export const SHARED_SHIFT_TIMES_MS = {
  /** How often a process compares its shares with those in Redis. Messages are faster, but may be lost. */
  every: 1000,
  /** How long a start waits for the shares. */
  start: 1000,
  /** How long Redis keeps shares after the last process with the same settings has stopped. */
  keep: 3_600_000,
  /** The same for shares of zero. They lead requests away from a group that may be broken, so they are kept for longer. */
  keepZero: 24 * 3_600_000,
  /** How often a process writes unchanged shares again, so that they are kept. */
  renew: 600_000,
} as const

interface SharedShiftsOptions {
  readonly engines: readonly SharedShiftEngine[]
  /** Connects to Redis. Null if Redis is not configured. */
  readonly openValues: ((onReady: () => void) => SharedValues) | null
  /** Milliseconds since 1970. */
  readonly wallNow: () => number
  readonly log: Pick<Logger, 'info' | 'warn'>
}

export interface SharedShiftEngine {
  readonly name: string
  readonly settings: EngineConfig['shift']
  /** Null if the nodes of the engine have no groups. */
  readonly shift: Shift | null
  /** Whether the shares were taken over from the previous configuration of this process. */
  readonly isTakenOver: boolean
  /** When this process last knew the shares change under the same settings, in a former configuration. 0: it had no such configuration. */
  readonly formerMs: number
}

interface SharedShifts extends Component {
  /** Compares the shares of this process with those in Redis now. Without Redis, resolves at once. Never rejects. */
  readonly compare: Dependencies['compareShares']
}

/**
 * Keeps the shares that a command or a return has changed in Redis, so that a process that starts or has missed a message has the shares
 * of the others. An engine has two kinds of values there:
 *
 * - `NAME SETTINGS`: the last change under these settings. During a rollout, processes with the former and with the new file each have
 *   their own value, and none replaces the shares of the others.
 * - `NAME`: the last change to shares of zero, under any settings. Processes with other settings apply it too, because it leads requests
 *   away from a group that may be broken.
 *
 * Each value expires. There is one for each `shift` of a file under which the shares were changed within `keepZero`.
 */
export function createSharedShifts({ engines, openValues, wallNow, log }: SharedShiftsOptions): SharedShifts {
  const shifts = engines.flatMap(({ shift, ...engine }) =>
    shift === null ? [] : [new SharedShift({ ...engine, shift, wallNow, log })],
  )
  if (openValues === null || shifts.length === 0) return { compare: async () => undefined }
  let values: SharedValues | null = null
  let timer: NodeJS.Timeout | undefined
  let running: Promise<unknown> | null = null
  /** Compares the shares of all engines. A comparison that is running is not repeated. */
  const compare = async () => {
    const opened = values
    if (opened === null) return
    running ??= Promise.all(shifts.map((shift) => shift.compare(opened))).finally(() => (running = null))
    await running
  }
  /** Begins a comparison after one that is running, because that may have read the shares before they changed. */
  const compareAgain = async () => {
    await running
    await compare()
  }
  // A process that starts, or fails, right after a change then finds or leaves the change in Redis.
  for (const shift of shifts) shift.listen(() => void compareAgain())
  return {
    start: async () => {
      const connected = Promise.withResolvers<void>()
      values = openValues(() => void compare().then(connected.resolve))
      timer = setInterval(() => void compare(), SHARED_SHIFT_TIMES_MS.every).unref()
      await Promise.race([connected.promise, delay(SHARED_SHIFT_TIMES_MS.start, undefined, { ref: false })])
      for (const { engine } of shifts.filter(({ isCompared }) => !isCompared))
        log.warn(
          { engine },
          'the shares of the groups could not be read from Redis: those of the configuration apply until it responds',
        )
    },
    stop: () => clearInterval(timer),
    close: async () => {
      // The last change of this process may be younger than the last comparison.
      await compareAgain()
      values?.close()
    },
    compare: compareAgain,
  }
}

interface SharedShiftOptions
  extends Omit<SharedShiftEngine, 'shift'>,
    Pick<SharedShiftsOptions, 'wallNow' | 'log'> {
  readonly shift: Shift
}

type StoredState = SharedShiftState | 'unavailable' | null

/** The shares of one engine, in this process and in Redis. */
class SharedShift {
  readonly engine: string
  /** Identifies the section `shift` of the configuration. */
  readonly #settings: string
  readonly #options: SharedShiftOptions
  #isCompared = false
  #isReadable = true
  #writtenAtMs = -Infinity

  constructor(options: SharedShiftOptions) {
    this.engine = options.name
    this.#settings = shiftSettingsId(options.settings)
    this.#options = options
  }

  get isCompared(): boolean {
    return this.#isCompared
  }

  listen(listener: () => void): void {
    this.#options.shift.listen(listener)
  }

  async compare(values: SharedValues): Promise<void> {
    const [found, zero] = await Promise.all([
      this.#read(values, sharedNameOf(this.engine, this.#settings)),
      this.#read(values, this.engine),
    ])
    if (found === 'unavailable' || zero === 'unavailable') return
    // Under the same settings, both values have the same meaning.
    const own = found ?? (zero?.settings === this.#settings ? zero : null)
    const isFirst = !this.#isCompared
    this.#isCompared = true
    if (isFirst && !this.#options.isTakenOver) this.#begin(own, zero)
    this.#adopt(own)
    this.#adopt(zero)
    await this.#write(values, found, zero)
  }

  async #read(values: SharedValues, name: string): Promise<StoredState> {
    const found = await values.read(name)
    if (found === 'unavailable' || found === null) return found
    const stored = found === 'unsigned' ? null : sharedStateIn(found.text)
    if (stored === null && this.#isReadable)
      this.#options.log.warn(
        { engine: this.engine, value: name },
        'shares of the groups in Redis have another form or are not signed by a key of cache.signingKeys, and are ignored',
      )
    this.#isReadable &&= stored !== null
    return stored
  }

  /** Decides whether the shares of the configuration begin, or those that are stored continue. */
  #begin(own: SharedShiftState | null, zero: SharedShiftState | null): void {
    const { shift, formerMs } = this.#options
    if (shift.state.changedAtMs > 0) return
    const zeroMs = zero?.state.changedAtMs ?? 0
    // The configuration has changed since the zero was stored: its shares apply, also if they are larger.
    if (own === null) shift.beginAfter(zeroMs)
    // The configuration of this process has changed and changed back, so its shares apply again.
    else if (own.state.changedAtMs <= formerMs) shift.keepAfter(Math.max(own.state.changedAtMs, zeroMs))
  }

  #adopt(stored: SharedShiftState | null): void {
    const { shift, log } = this.#options
    if (stored === null || !adoptShared(shift, this.#settings, stored)) return
    const { shares, returned } = stored.state
    log.info(
      { engine: this.engine, group: shift.to, ...shares, returned },
      'the shares of the groups were read from Redis',
    )
  }

  /** Writes shares that replace those in Redis, or that would expire there. */
  async #write(
    values: SharedValues,
    own: SharedShiftState | null,
    zero: SharedShiftState | null,
  ): Promise<void> {
    const { shift, wallNow } = this.#options
    const { state, to } = shift
    if (state.changedAtMs === 0) return
    const isZeroState = isZero(state.shares)
    const isOld = wallNow() - this.#writtenAtMs > SHARED_SHIFT_TIMES_MS.renew
    const isWritten = (stored: SharedShiftState | null) =>
      stored !== null &&
      !isLater(state, stored.state) &&
      !(isOld && state.changedAtMs === stored.state.changedAtMs)
    const names = [
      ...(isWritten(own) ? [] : [sharedNameOf(this.engine, this.#settings)]),
      ...(!isZeroState || isWritten(zero) ? [] : [this.engine]),
    ]
    const text = JSON.stringify({ settings: this.#settings, to, state } satisfies SharedShiftState)
    const keepMs = isZeroState ? SHARED_SHIFT_TIMES_MS.keepZero : SHARED_SHIFT_TIMES_MS.keep
    const written = await Promise.all(names.map((name) => values.write(name, text, keepMs)))
    if (written.length > 0 && written.every(Boolean)) this.#writtenAtMs = wallNow()
  }
}
