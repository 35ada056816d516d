import { getHeapStatistics } from 'node:v8'

/**
 * The limits of parsing. `inlineBytes` is the largest content that is parsed without a thread: the start of a thread costs a
 * tenth of a second of CPU time, and the YAML library needs 10 ms for 16 KiB.
 */
export interface ParseLimits {
  readonly inlineBytes: number
  /** Before the process serves requests, parsing delays no request. */
  readonly inlineBytesAtStart: number
  /** JSON is parsed in a tenth of the time: 256 KiB in 3 ms. */
  readonly inlineBytesOfJson: number
  /** The heap of a thread, in MiB. */
  readonly heapMiB: number
  /** The time of a thread, in milliseconds. The YAML library needs 10 s for 100,000 records on a core without other work. */
  readonly threadMs: number
}

const MAX_HEAP_MIB = 1024

/** Returns the limits of this process. A thread may use as much memory as the main thread, but at most 1 GiB. */
export function parseLimits(): ParseLimits {
  return {
    inlineBytes: 16 * 1024,
    inlineBytesAtStart: 1024 * 1024,
    inlineBytesOfJson: 256 * 1024,
    heapMiB: Math.min(MAX_HEAP_MIB, Math.floor(getHeapStatistics().heap_size_limit / 1024 ** 2)),
    threadMs: 120_000,
  }
}
