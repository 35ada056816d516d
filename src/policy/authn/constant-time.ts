import { setTimeout as wait } from 'node:timers/promises'
import { throttled } from './throttled.ts'

export interface ConstantTimeOptions {
  /** No failure is told sooner; default 50 ms. */
  readonly minMs?: number
  /** Failures that may wait to be told; default 256. Over it: 429 with Retry-After 1. */
  readonly maxWaiting?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  readonly delay?: (ms: number) => Promise<unknown>
}

/** A `true` is told at once, a `false` on a coarse grid of time. */
export type ConstantTime = (work: () => Promise<boolean>) => Promise<boolean>

const MAX_MS = 1_000

/**
 * Hides how long a failure took: an engine answers for a name it does not know without a hash, which is sooner. The grid
 * is twice as wide as a success usually takes, so that failures of both kinds end on its first line.
 */
export function createConstantTime(options: ConstantTimeOptions = {}): ConstantTime {
  const { minMs = 50, maxWaiting = 256, now = () => performance.now(), delay = wait } = options
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
      const gridMs = Math.min(Math.max(minMs, 2 * usualMs), MAX_MS)
      const lines = Math.max(1, Math.ceil(tookMs / gridMs))
      await delay(Math.ceil(lines * gridMs - tookMs))
      return false
    } finally {
      waiting -= 1
    }
  }
}
