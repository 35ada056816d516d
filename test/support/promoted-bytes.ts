import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const COLLECTIONS = 40

/**
 * Returns the bytes that V8 moved to the old generation of the heap while `work` ran `times` times, with forty collections of the
 * young generation. It first runs `work` for a quarter of the times, so that the code is compiled. If `work` allocates much, V8 also
 * collects the old generation, and the result is too low.
 */
export async function promotedBytes(work: () => Promise<void> | void, times: number): Promise<number> {
  setFlagsFromString('--expose-gc')
  // As in the image. Otherwise V8 may allocate objects of a code location in the old generation, because earlier ones lived long.
  setFlagsFromString('--no-allocation-site-pretenuring')
  const collect: (options: { readonly type: 'minor' }) => void = runInNewContext('gc')
  const run = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      await work()
      if (i % Math.ceil(count / COLLECTIONS) === 0) collect({ type: 'minor' })
    }
  }
  await run(times / 4)
  const before = oldSpaceBytes()
  await run(times)
  return oldSpaceBytes() - before
}

function oldSpaceBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')
  if (space === undefined) throw new Error('V8 reports no old space')
  return space.space_used_size
}
