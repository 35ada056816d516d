import { setImmediate as turn } from 'node:timers/promises'

const LONGEST_MS = 1000

/**
 * Resolves when no connection waits to be accepted, or a second later: a port that is closed before resets those that wait.
 * Node accepts one in a turn of its event loop. `accepted` counts them.
 */
export async function acceptWaiting(accepted: () => number): Promise<void> {
  const untilMs = performance.now() + LONGEST_MS
  let before: number
  do {
    before = accepted()
    // In the rest of the first turn the system may not be asked any more; in the second one it is.
    await turn()
    await turn()
  } while (accepted() > before && performance.now() < untilMs)
}
