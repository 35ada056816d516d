import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import type { EngineShift } from '../pipeline/dependencies.ts'
import {
  hasSameShares,
  isZero,
  type Shift,
  type ShiftChange,
  type ShiftShares,
  type ShiftState,
} from '../proxy/nodes/shift.ts'
import { jsonValueOf } from '../request/value.ts'
import type { SharedValues, SharedValuesOptions } from '../redis/shared-values.ts'
import type { Component } from '../component.ts'
import { shiftChangeOf } from './shift-change.ts'

export const SHARED_SHIFT_TIMES_MS = {
  /** How often a process compares its shares with those in Redis. */
  every: 500,
  /** The longest wait of a start for a response of Redis, or for a failed connection. */
  start: 10_000,
  /** How long Redis keeps shares after the last process with the same groups has stopped. */
  keep: 3_600_000,
  /** The same for shares of zero. They lead requests away from a group that may be broken, so they are kept for longer. */
  keepZero: 24 * 3_600_000,
  /** How often a process writes unchanged shares again, so that they are kept. */
  renew: 600_000,
} as const

/** The number of attempts to replace a record that other processes change at the same time. */
const MAX_ATTEMPTS = 10

/** Connects to the values in Redis. */
export type OpenValues = (events: Pick<SharedValuesOptions, 'onReady' | 'onAway'>) => SharedValues

interface SharedShiftsOptions {
  /** Null if Redis is not configured. */
  readonly openValues: OpenValues | null
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly log: Pick<Logger, 'info' | 'warn'>
}

export interface SharedShifts extends Component {
  /** Adds the shift of an engine before the start. Returns the functions that depend on Redis. */
  readonly add: (engine: string, shift: Shift) => Pick<EngineShift, 'change' | 'isShared'>
}

/**
 * Keeps one record for each engine in Redis: the shares that the last command or return has set, and their revision. All processes follow
 * the highest revision. A change replaces the record only if no other process has changed it in the meantime, and raises the revision.
 * Clocks have no influence. The shares of the configuration apply as long as there is no record (revision 0).
 */
export function createSharedShifts({ openValues, now, log }: SharedShiftsOptions): SharedShifts {
  const shifts: SharedShift[] = []
  let timer: NodeJS.Timeout | undefined
  let values: SharedValues | null = null
  const compare = async (): Promise<void> => void (await Promise.all(shifts.map((shift) => shift.compare())))
  return {
    add: (engine, shift) => {
      const shared = new SharedShift({ engine, shift, now, log })
      shifts.push(shared)
      return shared
    },
    start: async () => {
      if (openValues === null || shifts.length === 0) return
      const asked = Promise.withResolvers<void>()
      const opened = openValues({ onReady: () => void compare().then(asked.resolve), onAway: asked.resolve })
      values = opened
      for (const shift of shifts) shift.share(opened)
      timer = setInterval(() => void compare(), SHARED_SHIFT_TIMES_MS.every).unref()
      // A process that serves requests has the shares of the others, or knows that Redis is away.
      await Promise.race([asked.promise, delay(SHARED_SHIFT_TIMES_MS.start, undefined, { ref: false })])
      for (const { engine } of shifts.filter(({ isRead }) => !isRead))
        log.warn(
          { engine },
          'the shares of the groups could not be read from Redis: those of the configuration apply until it responds',
        )
    },
    stop: () => clearInterval(timer),
    close: async () => {
      // The last change of this process may be younger than the last comparison.
      await Promise.all(shifts.map((shift) => shift.compareAgain()))
      values?.close()
    },
  }
}

interface SharedShiftOptions extends Omit<SharedShiftsOptions, 'openValues'> {
  readonly engine: string
  readonly shift: Shift
}

/** What Redis has for an engine. */
interface FoundRecord {
  /** The value that a change replaces. */
  readonly value: Exclude<Awaited<ReturnType<SharedValues['read']>>, 'unavailable'>
  /** Null if there is none, or if it cannot be used. */
  readonly record: ShiftChange | null
  /** Whether another release may have written the value. */
  readonly isForeign: boolean
}

/** The shares of one engine, in this process and in Redis. */
class SharedShift implements Pick<EngineShift, 'change' | 'isShared'> {
  readonly engine: string
  readonly #shift: Shift
  readonly #now: () => number
  readonly #log: SharedShiftOptions['log']
  /** Null if Redis is not configured. */
  #values: SharedValues | null = null
  #comparing: Promise<void> | null = null
  #isShared = false
  #isRead = false
  #isReadable = true
  #writtenAtMs = -Infinity

  constructor({ engine, shift, now, log }: SharedShiftOptions) {
    this.engine = engine
    this.#shift = shift
    this.#now = now
    this.#log = log
  }

  /** Whether the record was read at least once. */
  get isRead(): boolean {
    return this.#isRead
  }

  /** Begins to share the changes of this process. */
  share(values: SharedValues): void {
    this.#values = values
    // A process that fails right after a return then leaves the return in Redis.
    this.#shift.listen(() => void this.compareAgain())
  }

  readonly isShared = (): boolean | null => (this.#values === null ? null : this.#isShared)

  /** Changes some shares, also of a group whose requests have returned. Without Redis, only those of this process change. */
  readonly change = async (given: Partial<ShiftShares>): Promise<void> => {
    const revision = (await this.#changeShared(given)) ?? this.#changeAlone(given)
    const { to, shares } = this.#shift
    this.#log.info(
      { engine: this.engine, group: to, ...shares, revision },
      'the shares of the groups have changed',
    )
  }

  /** Returns the new revision, or null if Redis does not respond. */
  async #changeShared(given: Partial<ShiftShares>): Promise<number | null> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const found = await this.#read()
      if (found === null) return null
      const { state } = this.#shift
      const latest = this.#latestOf(state, found.record)
      const next = {
        shares: { ...latest.shares, ...given },
        returned: null,
        revision: Math.max(state.revision, found.record?.state.revision ?? 0) + 1,
      }
      const result = await this.#write(found, next)
      if (result === 'unavailable') return null
      if (result === 'changed') continue
      this.#shift.apply(next)
      return next.revision
    }
    return null
  }

  #changeAlone(given: Partial<ShiftShares>): number {
    const { shares, revision } = this.#shift.state
    this.#shift.apply({ shares: { ...shares, ...given }, returned: null, revision: revision + 1 })
    this.#shift.isUnstored = true
    this.#isShared = false
    return revision + 1
  }

  /** Compares the shares of this process with the record. A comparison that is running is not repeated. */
  compare(): Promise<void> {
    this.#comparing ??= this.#compare().finally(() => (this.#comparing = null))
    return this.#comparing
  }

  /** Begins a comparison after one that is running, because that may have read the shares before they changed. */
  async compareAgain(): Promise<void> {
    await this.#comparing
    await this.compare()
  }

  async #compare(): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const found = await this.#read()
      if (found === null || (found.isForeign && !this.#shift.isUnstored)) {
        this.#isShared = false
        return
      }
      this.#follow(this.#latestOf(this.#shift.state, found.record))
      if (!this.#mustWrite(found.record)) return
      const result = await this.#write(found, this.#shift.state)
      if (result !== 'changed') return
    }
  }

  /** Returns null if Redis does not respond. */
  async #read(): Promise<FoundRecord | null> {
    const value = (await this.#values?.read(this.engine)) ?? null
    if (value === 'unavailable' || this.#values === null) return null
    this.#isRead = true
    const record = value === null || value.text === null ? null : shiftChangeOf(jsonValueOf(value.text))
    const isReadable = value === null || record !== null
    if (!isReadable && this.#isReadable)
      this.#log.warn(
        { engine: this.engine },
        'the shares of the groups in Redis have another form or are not signed by a key of cache.signingKeys, and are ignored',
      )
    this.#isReadable = isReadable
    return { value, record, isForeign: value !== null && value.text !== null && record === null }
  }

  /** Returns the state that applies: the one of this process, or the one of the record. */
  #latestOf(own: ShiftState, record: ShiftChange | null): ShiftState {
    if (record === null || !this.#shift.isConcerned(record)) return own
    const { state } = record
    // The record was changed without knowledge of shares of zero that this process has set. The group may be broken, so the zero stays.
    if (this.#shift.isUnstored && isZero(own.shares) && !isZero(state.shares))
      return { ...own, revision: Math.max(own.revision, state.revision + 1) }
    return state.revision >= own.revision ? state : own
  }

  #follow(state: ShiftState): void {
    const before = this.#shift.state
    if (state === before) return
    const isChanged = !hasSameShares(state, before)
    const { isUnstored } = this.#shift
    this.#shift.apply(state)
    // The zero of this process, with a higher revision.
    this.#shift.isUnstored = isUnstored && !isChanged
    const { shares, returned, revision } = state
    if (isChanged)
      this.#log.info(
        { engine: this.engine, group: this.#shift.to, ...shares, returned, revision },
        'the shares of the groups were read from Redis',
      )
  }

  /** Returns whether Redis lacks the state of this process, or would soon remove it. */
  #mustWrite(record: ShiftChange | null): boolean {
    const { state } = this.#shift
    const isConcerned = record !== null && this.#shift.isConcerned(record)
    const isStored = record !== null && isConcerned && record.state.revision === state.revision
    const isReplaced = record !== null && !isConcerned && record.state.revision >= state.revision
    this.#isShared = isStored || state.revision === 0
    if (isStored) this.#shift.isUnstored = false
    if (state.revision === 0 || isReplaced) return false
    return !isStored || this.#now() - this.#writtenAtMs > SHARED_SHIFT_TIMES_MS.renew
  }

  async #write({ value }: FoundRecord, state: ShiftState): Promise<'replaced' | 'changed' | 'unavailable'> {
    const text = JSON.stringify({ ...this.#shift.lastChange, state } satisfies ShiftChange)
    const keepMs = isZero(state.shares) ? SHARED_SHIFT_TIMES_MS.keepZero : SHARED_SHIFT_TIMES_MS.keep
    const result = (await this.#values?.replace(this.engine, value, { text, keepMs })) ?? 'unavailable'
    this.#isShared = result === 'replaced'
    if (result !== 'replaced') return result
    // Requests may have returned in the meantime.
    if (state.revision === this.#shift.state.revision) this.#shift.isUnstored = false
    this.#writtenAtMs = this.#now()
    return result
  }
}
