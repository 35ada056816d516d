import { setTimeout as wait } from 'node:timers/promises'
import { throttled } from './throttled.ts'

export interface ConstantTimeOptions {
  /** No failure is reported earlier; default 50 ms. */
  readonly minMs?: number
  /** Failures that may wait to be reported; default 256. Beyond it: 429 with Retry-After 1. */
  readonly maxWaiting?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  readonly delay?: (ms: number) => Promise<unknown>
}

/** Reports `true` at once, and `false` on a coarse time grid. */
export type ConstantTime = (work: () => Promise<boolean>) => Promise<boolean>

const MAX_MS = 1_000

/**
 * Hides how long a failure took: an engine answers faster for an unknown name, because it computes no hash. A grid step is
 * twice the usual time of a success, so that failures of both kinds end on the first step.
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
