import { randomUUID } from 'node:crypto'
import { keyPrefixOf } from './key-prefix.ts'
import { RedisLink, type SharedStateOptions } from './redis-link.ts'

interface LeaseOptions extends SharedStateOptions {
  /** The names, each with one lease. */
  readonly names: readonly string[]
  /**
   * Time without a renewal after which another process is elected, in milliseconds; default: 6 s. Leases are renewed three times
   * in this time.
   */
  readonly leaseMs?: number
}

/** Elects one of several processes, for each name. */
export interface Leases {
  /** Starts to take and renew the leases. */
  readonly start: () => void
  /** Returns whether this process is the elected one now. */
  readonly holds: (name: string) => boolean
  /** Releases the leases, so that another process does not have to wait until they expire. */
  readonly close: () => void
}

const LEASE_MS = 6000

/**
 * Takes a free lease, or renews the lease of this process. A key without an expiry would never become free, so it gets an expiry.
 */
const TAKE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

/**
 * Creates leases in Redis. A process relies on its own lease no longer than Redis keeps it, counted from before the request. A
 * process that was cut off therefore stops before another one is elected. While Redis does not respond, no process is elected.
 */
export function createLeases({ redis, namespace, names, now, leaseMs = LEASE_MS }: LeaseOptions): Leases {
  const self = randomUUID()
  const prefix = `${keyPrefixOf(redis, namespace)}lease:`
  const heldUntilMs = new Map<string, number>()
  const link = new RedisLink({ redis, prefix, now, onReady: () => void take() })
  let timer: NodeJS.Timeout | null = null
  let isClosed = false

  async function take(): Promise<void> {
    if (timer === null || isClosed) return
    const untilMs = now() + leaseMs
    const replies = await link.run(
      names.map((name) => ['eval', TAKE, 1, prefix + name, self, leaseMs] as const),
    )
    if (typeof replies === 'string' || isClosed) return
    for (const [index, name] of names.entries())
      if (replies[index]?.[1] === 1) heldUntilMs.set(name, untilMs)
      else heldUntilMs.delete(name)
  }

  async function release(): Promise<void> {
    heldUntilMs.clear()
    // Releases all leases, because the response to a successful take may not have arrived yet.
    await link.run(names.map((name) => ['eval', RELEASE, 1, prefix + name, self] as const))
    link.close()
  }

  return {
    start: () => {
      if (isClosed) return
      timer ??= setInterval(() => void take(), leaseMs / 3).unref()
      void take()
    },
    holds: (name) => (heldUntilMs.get(name) ?? -Infinity) > now(),
    close: () => {
      if (isClosed) return
      isClosed = true
      if (timer !== null) clearInterval(timer)
      void release()
    },
  }
}

/** Leases without Redis. The process does not know of others and always holds its lease. */
export const OWN_LEASES: Leases = { start: () => undefined, holds: () => true, close: () => undefined }
