import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns the bytes that V8 moved to the old generation of the heap while `work` ran `times` times, with frequent collections of the young generation. */
export function promotedBytes(work: () => void, times: number): number {
  setFlagsFromString('--expose-gc')
  const collect: (options: { readonly type: 'minor' }) => void = runInNewContext('gc')
  const run = (count: number) => {
    for (let i = 0; i < count; i += 1) {
      work()
      if (i % COLLECTED_AFTER === 0) collect({ type: 'minor' })
    }
  }
  run(times / 4)
  const before = oldSpaceBytes()
  run(times)
  return oldSpaceBytes() - before
}

const COLLECTED_AFTER = 50

function oldSpaceBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')
  if (space === undefined) throw new Error('V8 reports no old space')
  return space.space_used_size
}
