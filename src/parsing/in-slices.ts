import { setImmediate } from 'node:timers/promises'

/** The time after which work pauses, in milliseconds. The step that exceeds it is completed first. */
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
