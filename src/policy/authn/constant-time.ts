import { setTimeout as wait } from 'node:timers/promises'
import { throttled } from './throttled.ts'

export interface ConstantTimeOptions {
  /** The number of failures that may wait to be reported. Default: 256. Further failures get 429 with Retry-After 1. */
  readonly maxWaiting?: number
  /** The monotonic clock, in milliseconds. Default: performance.now. */
  readonly now?: () => number
  readonly delay?: (ms: number) => Promise<unknown>
}

/** Resolves to `true` immediately, and to `false` at the next step of a coarse time grid. */
export type ConstantTime = (work: () => Promise<boolean>) => Promise<boolean>

/** The earliest time at which a failure is reported. */
const MIN_MS = 50
const MAX_MS = 1_000

/**
 * Creates a function that hides the duration of failures. An engine responds faster for an unknown name, because it computes no
 * hash. A grid step is twice the usual duration of a success, so failures for known and unknown names both end at the first step.
 */
export function createConstantTime(options: ConstantTimeOptions = {}): ConstantTime {
  const { maxWaiting = 256, now = () => performance.now(), delay = wait } = options
  let usualMs = 0
  let waiting = 0

  return async (work) => {
    const start = now()
    const right = await work()
    const tookMs = now() - start
    if (right) {
      usualMs = usualMs === 0 ? tookMs : 0.9 * usualMs + 0.1 * tookMs
      return true
    }
    if (waiting >= maxWaiting) throw throttled(1_000)
    waiting += 1
    try {
      const gridMs = Math.min(Math.max(MIN_MS, 2 * usualMs), MAX_MS)
      const lines = Math.max(1, Math.ceil(tookMs / gridMs))
      await delay(Math.ceil(lines * gridMs - tookMs))
      return false
    } finally {
      waiting -= 1
    }
  }
}
