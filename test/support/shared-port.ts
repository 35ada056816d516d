import { once } from 'node:events'
import type { Test } from 'tap'
import { until } from './cache-harness.ts'
import { openSocket } from './raw.ts'
import type { Started } from './started-workers.ts'

const SHARED = 'workers accept connections themselves'
const NOT_SHARED = 'the primary accepts connections'

/** Returns whether the workers accept connections themselves. The gateway must log at the level `debug`. */
function isShared({ lines }: Started): boolean {
  return lines().findLast(({ msg }) => msg === SHARED || msg === NOT_SHARED)?.['msg'] === SHARED
}

/** Opens and closes connections until the workers accept connections themselves, and continues until `stop` is called. */
export async function startTurnover(t: Test, gateway: Started) {
  const stopped = new AbortController()
  const client = async () => {
    while (!stopped.signal.aborted) {
      const socket = openSocket(gateway.address)
      await Promise.race([once(socket, 'connect'), once(socket, 'close')])
      socket.destroy()
    }
  }
  const clients = Promise.all(Array.from({ length: 20 }, client))
  const stop = async () => {
    stopped.abort()
    await clients
  }
  t.teardown(stop)
  await until(() => isShared(gateway), 30_000)
  return { stop }
}

/** Stops the execution of all workers while they accept connections themselves. Returns their process ids. */
export async function freezeSharing(t: Test, gateway: Started): Promise<readonly number[]> {
  const { stop } = await startTurnover(t, gateway)
  const pids = [...gateway.pids().values()]
  for (;;) {
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    // The primary asks for counts four times a second. Without an answer it changes nothing.
    if (isShared(gateway)) break
    for (const pid of pids) process.kill(pid, 'SIGCONT')
    await until(() => isShared(gateway), 30_000)
  }
  await stop()
  return pids
}
