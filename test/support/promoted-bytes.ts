import { GCProfiler, type HeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const COLLECTIONS = 40

// As in the image. Otherwise V8 may allocate objects of a code location in the old generation, because earlier ones lived long. This
// must be set before other tests of the process run: what V8 has decided then remains, and also keeps what these objects reference.
setFlagsFromString('--no-allocation-site-pretenuring')

/**
 * Returns the bytes that collections of the young generation moved to the old generation of the heap while `work` ran `times` times,
 * with about forty such collections. Collections of the old generation, also of objects of earlier tests, do not change the
 * result. It first runs `work` for a quarter of the times, so that the code is compiled.
 */
export async function promotedBytes(work: () => Promise<void> | void, times: number): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: (options: { readonly type: 'minor' }) => void = runInNewContext('gc')
  const run = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      await work()
      if (i % Math.ceil(count / COLLECTIONS) === 0) collect({ type: 'minor' })
    }
  }
  await run(times / 4)
  const profiler = new GCProfiler()
  profiler.start()
  await run(times)
  const { statistics } = profiler.stop()
  const young = statistics.filter(({ gcType }) => gcType === 'Scavenge')
  if (young.length < COLLECTIONS / 2) throw new Error(`V8 reports ${young.length} collections`)
  return young.reduce(
    (sum, { beforeGC, afterGC }) =>
      sum + oldSpaceBytes(afterGC.heapSpaceStatistics) - oldSpaceBytes(beforeGC.heapSpaceStatistics),
    0,
  )
}

function oldSpaceBytes(spaces: readonly HeapSpaceStatistics[]): number {
  const space = spaces.find(({ spaceName }) => spaceName === 'old_space')
  if (space === undefined) throw new Error('V8 reports no old space')
  return space.spaceUsedSize
}
