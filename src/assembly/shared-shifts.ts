import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { EngineConfig } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Shift, ShiftState } from '../proxy/nodes/shift.ts'
import type { SharedValues } from '../redis/shared-values.ts'
import { isRecord } from '../request/value.ts'
import type { Component } from './component.ts'
import { parsedOrNull, shiftSettingsId, shiftStateIn } from './shifts.ts'

export const SHARED_SHIFT_TIMES_MS = {
  /** How often a process compares its shares with those in Redis. Messages are faster, but may be lost. */
  every: 1000,
  /** How long a start waits for the shares. */
  start: 1000,
  /** How long Redis keeps the shares after the last process has stopped. */
  keep: 24 * 3_600_000,
  /** How often a process writes unchanged shares again, so that they are kept. */
  renew: 3_600_000,
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
}

/**
 * Keeps the shares that a command or a return has changed in Redis, so that a process that starts or has missed a message has the shares
 * of the others. The last change wins. Shares that were changed under another `shift` of the configuration do not apply.
 */
export function createSharedShifts({ engines, openValues, wallNow, log }: SharedShiftsOptions): Component {
  const shifts = engines.flatMap(({ shift, ...engine }) =>
    shift === null ? [] : [new SharedShift({ ...engine, shift, wallNow, log })],
  )
  if (openValues === null || shifts.length === 0) return {}
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
      await running
      await compare()
      values?.close()
    },
  }
}

interface SharedShiftOptions
  extends Omit<SharedShiftEngine, 'shift'>,
    Pick<SharedShiftsOptions, 'wallNow' | 'log'> {
  readonly shift: Shift
}

/** The shares of one engine, in this process and in Redis. */
class SharedShift {
  readonly engine: string
  /** Identifies the section `shift` of the configuration. */
  readonly #settings: string
  readonly #options: SharedShiftOptions
  #isCompared = false
  #writtenAtMs = -Infinity

  constructor(options: SharedShiftOptions) {
    this.engine = options.name
    this.#settings = shiftSettingsId(options.settings)
    this.#options = options
  }

  /** Whether the shares were compared once. */
  get isCompared(): boolean {
    return this.#isCompared
  }

  async compare(values: SharedValues): Promise<void> {
    const { name, shift } = this.#options
    const found = await values.read(name)
    if (found === 'unavailable') return
    const stored = found === null ? null : storedShiftIn(found.text)
    const isFirst = !this.#isCompared
    this.#isCompared = true
    if (stored !== null && stored.settings === this.#settings) this.#adopt(stored.state)
    // The configuration has changed since the shares were stored. If it changes back, they must not apply again.
    else if (stored !== null && isFirst && !this.#options.isTakenOver)
      shift.keepAfter(stored.state.changedAtMs)
    await this.#write(values, stored?.state.changedAtMs ?? 0)
  }

  #adopt(state: ShiftState): void {
    const { name: engine, shift, log } = this.#options
    if (state.changedAtMs < shift.state.changedAtMs || isDeepStrictEqual(state, shift.state)) return
    shift.adopt(state)
    log.info(
      { engine, group: shift.to, ...state.shares, returned: state.returned },
      'the shares of the groups were read from Redis',
    )
  }

  /** Writes shares that are later than those in Redis, or that would expire there. */
  async #write(values: SharedValues, storedAtMs: number): Promise<void> {
    const { name, shift, wallNow } = this.#options
    const { state } = shift
    const isLater = state.changedAtMs > storedAtMs
    const isOld = wallNow() - this.#writtenAtMs > SHARED_SHIFT_TIMES_MS.renew
    if (!isLater && !(isOld && state.changedAtMs === storedAtMs && storedAtMs > 0)) return
    if (await values.write(name, JSON.stringify({ settings: this.#settings, state })))
      this.#writtenAtMs = wallNow()
  }
}

interface StoredShift {
  readonly settings: string
  readonly state: ShiftState
}

function storedShiftIn(text: string): StoredShift | null {
  const stored = parsedOrNull(text)
  if (!isRecord(stored) || typeof stored['settings'] !== 'string') return null
  const state = shiftStateIn(stored['state'])
  return state === null ? null : { settings: stored['settings'], state }
}
