import type { Schedule } from '../../src/files/source-state.ts'

/** A clock that stands still, and timers that go off only when it is moved. */
export interface FakeTime {
  readonly now: () => number
  readonly schedule: Schedule
  /** What is due goes off in its order; what it begins may still be under way. */
  readonly advance: (ms: number) => void
  /** When the next timer is due, from now. */
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
