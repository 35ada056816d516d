import { setImmediate } from 'node:timers/promises'

/** The longest time between two pauses, in milliseconds, besides the last step of a slice. */
const SLICE_MS = 4

/** Runs work that pauses often. Requests are served between two slices. */
export async function inSlices<Result>(work: Generator<undefined, Result>): Promise<Result> {
  let endsAt = performance.now() + SLICE_MS
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (performance.now() < endsAt) continue
    await setImmediate()
    endsAt = performance.now() + SLICE_MS
  }
}
