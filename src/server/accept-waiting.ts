import { setImmediate as turn } from 'node:timers/promises'

const LONGEST_MS = 1000

/**
 * So many connections may wait to be accepted, unless the system allows fewer (`net.core.somaxconn`, by default 4096 since Linux
 * 5.4). Of one that comes when as many wait the system drops what it says, and hears it again after 1, 3, 7, 15 seconds: with
 * Node's 511, clients that all come back at once fill the queue while the event loop does something else.
 */
export const MOST_WAITING = 4096

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
