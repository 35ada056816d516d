import { totalmem } from 'node:os'
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
  /** Returns the largest heap of a thread that starts now, in MiB. */
  readonly heapMiB: () => number
  /** The time of a thread, in milliseconds. The YAML library needs 10 s for 100,000 records on a core without other work. */
  readonly threadMs: number
}

const MiB = 1024 ** 2
const MAX_HEAP_MIB = 1024
/** The plain form of 100,000 records needs this heap. */
const MIN_HEAP_MIB = 128
/** The part of the free memory that a heap may use. The thread needs memory besides its heap. */
const SHARE = 0.75

export function parseLimits(): ParseLimits {
  return {
    inlineBytes: 16 * 1024,
    inlineBytesAtStart: 1024 * 1024,
    inlineBytesOfJson: 256 * 1024,
    heapMiB: () =>
      heapMiBOf({
        // 0 if the system does not know a limit. Without a limit, it is more than the memory of the machine.
        limit: Math.min(process.constrainedMemory() || Infinity, totalmem()),
        used: process.memoryUsage.rss(),
        mainHeap: getHeapStatistics().heap_size_limit,
      }),
    threadMs: 120_000,
  }
}

/**
 * Returns the heap of a thread in MiB, for a memory in bytes. Without a limit, a file with many records would make the system kill
 * the process. With it, only the read fails.
 */
export function heapMiBOf({
  limit,
  used,
  mainHeap,
}: Readonly<Record<'limit' | 'used' | 'mainHeap', number>>): number {
  const free = Math.max(MIN_HEAP_MIB * MiB, (limit - used) * SHARE)
  return Math.floor(Math.min(MAX_HEAP_MIB * MiB, mainHeap, free) / MiB)
}
