import type { Schedule } from '../../src/files/source-state.ts'

/** A clock that only the test advances, with timers that fire when it does. */
export interface FakeTime {
  readonly now: () => number
  readonly schedule: Schedule
  /** Fires the due timers in their order. Asynchronous work that they start may still be running afterwards. */
  readonly advance: (ms: number) => void
  /** Returns the milliseconds until the next timer fires, or null if there is no timer. */
  readonly nextMs: () => number | null
}

export function createFakeTime(): FakeTime {
  let nowMs = 1_000_000
  const timers = new Map<symbol, { readonly at: number; readonly work: () => void }>()
  const next = () => [...timers].sort(([, one], [, other]) => one.at - other.at)[0]
  return {
    now: () => nowMs,
    schedule: (work, ms) => {
      const id = Symbol('timer')
      timers.set(id, { at: nowMs + ms, work })
      return () => void timers.delete(id)
    },
    advance: (ms) => {
      const end = nowMs + ms
      for (let due = next(); due !== undefined && due[1].at <= end; due = next()) {
        nowMs = Math.max(nowMs, due[1].at)
        timers.delete(due[0])
        due[1].work()
      }
      nowMs = end
    },
    nextMs: () => {
      const timer = next()
      return timer === undefined ? null : timer[1].at - nowMs
    },
  }
}
