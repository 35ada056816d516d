import type { Schedule } from '../../files/source-state.ts'

/**
 * Returns a function that calls `work` immediately, and at most once in each `gapMs` after that. Calls within a gap are not lost:
 * they lead to one call of `work` at the end of the gap.
 */
export function coalesce(work: () => void, gapMs: number, schedule: Schedule): () => void {
  let isResting = false
  let isPending = false
  function call(): void {
    if (isResting) {
      isPending = true
      return
    }
    isResting = true
    schedule(() => {
      isResting = false
      if (!isPending) return
      isPending = false
      call()
    }, gapMs)
    work()
  }
  return call
}
