import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { nodeFlags } from '../config/config.ts'

/**
 * Returns the heap size at which Node.js ends the process: the limit of the old generation. `heap_size_limit` is that limit plus
 * three semi-spaces of the young generation. The sum is 5 % larger unless one of the two sizes was given.
 */
export function heapLimitBytes(): number {
  const { heap_size_limit: limit } = getHeapStatistics()
  const [old, semi] = [flagBytes('max-old-space-size'), flagBytes('max-semi-space-size')]
  return old ?? limit - 3 * (semi ?? 0)
}

/** Returns null if the flag is not given. */
function flagBytes(name: string): number | null {
  const spelt = new RegExp(`--${name.replaceAll('-', '[-_]')}[= ](\\d+)`)
  const given = spelt.exec(nodeFlags())?.[1]
  return given === undefined ? null : Number(given) * MIB
}

/** Returns the memory limit of the container if it has one, otherwise the memory of the machine. */
export function availableBytes(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}

const MIB = 1024 ** 2
/** The largest part of the memory that the heaps may take. The rest is for memory outside the heaps, such as bodies and code. */
const MOST_HEAP = 0.75
/** The part that the chart gives to the heaps. */
const ADVISED_HEAP = 0.5

/** A heap limit with which the operating system may end a process before its heap is full. */
export interface HeapTooLarge {
  /** In MiB. */
  readonly memory: number
  /** The heap limit of each process, in MiB. */
  readonly heap: number
  readonly processes: number
  /** What to set in the environment. */
  readonly set: string
}

/** Returns null if the heaps of all processes leave enough memory for everything else. */
export function heapTooLarge(workers: number, heapBytes: number, memoryBytes: number): HeapTooLarge | null {
  if (workers * heapBytes <= MOST_HEAP * memoryBytes) return null
  const advised = Math.max(1, Math.floor((ADVISED_HEAP * memoryBytes) / workers / MIB))
  return {
    memory: Math.round(memoryBytes / MIB),
    heap: Math.round(heapBytes / MIB),
    processes: workers,
    set: `NODE_OPTIONS=--max-old-space-size=${advised}`,
  }
}
