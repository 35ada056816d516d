import { setImmediate as turn } from 'node:timers/promises'

const LONGEST_MS = 1000

/**
 * Maximum number of connections that wait to be accepted, unless the system allows fewer (`net.core.somaxconn`, by default 4096
 * since Linux 5.4). If the queue is full, the system drops the packets of a new connection, which the client sends again after 1,
 * 3, 7 and 15 seconds. With the 511 of Node.js, clients that all reconnect at once fill the queue while the event loop is busy.
 */
export const MOST_WAITING = 4096

/**
 * Resolves when no connection waits to be accepted, or after a second. If a port is closed earlier, the waiting connections are
 * reset. Node.js accepts one connection in each turn of its event loop. `accepted` returns the number of accepted connections.
 */
export async function acceptWaiting(accepted: () => number): Promise<void> {
  const untilMs = performance.now() + LONGEST_MS
  let before: number
  do {
    before = accepted()
    // The rest of the first turn may no longer poll the system for connections. The second turn polls it.
    await turn()
    await turn()
  } while (accepted() > before && performance.now() < untilMs)
}
