import { setImmediate as turn } from 'node:timers/promises'

/** The part of a drain in which connections are accepted. The other part remains for their responses. */
const ACCEPTING_PART = 0.5

/**
 * Maximum number of connections that wait to be accepted, unless the system allows fewer (`net.core.somaxconn`, by default 4096
 * since Linux 5.4). If the queue is full, the system drops the packets of a new connection, which the client sends again after 1,
 * 3, 7 and 15 seconds. With the 511 of Node.js, clients that all reconnect at once fill the queue while the event loop is busy.
 */
export const MOST_WAITING = 4096

/**
 * Resolves when no connection waits to be accepted, or after half of the drain. If a port is closed earlier, the waiting connections
 * are reset. Node.js accepts one connection in each turn of its event loop, and a turn of a busy process is long.
 *
 * @param accepted returns the number of accepted connections
 * @param drainMs the longest time of the drain (`timeouts.drain`)
 */
export async function acceptWaiting(accepted: () => number, drainMs: number): Promise<void> {
  const untilMs = performance.now() + drainMs * ACCEPTING_PART
  let before: number
  do {
    before = accepted()
    // The rest of the first turn may no longer poll the system for connections. The second turn polls it.
    await turn()
    await turn()
  } while (accepted() > before && performance.now() < untilMs)
}
