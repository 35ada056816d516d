import { randomUUID } from 'node:crypto'
import type { RedisSettings } from '../config/redis-types.ts'
import { keyPrefixOf } from './key-prefix.ts'
import { RedisLink } from './redis-link.ts'

interface LeaseOptions {
  readonly redis: RedisSettings
  /** Separates deployments that share a Redis and have engines of the same name. */
  readonly namespace: string
  /** What there is one lease for each of. */
  readonly names: readonly string[]
  /** Monotonic milliseconds, as `performance.now`. */
  readonly now: () => number
  /** After this time without a renewal another process is elected, in milliseconds; default: 6 s. Renewed three times as often. */
  readonly leaseMs?: number
}

/** Elects one of several processes, for each name. */
export interface Leases {
  /** Takes and renews them from now on. */
  readonly start: () => void
  /** Whether this process is the elected one now. */
  readonly holds: (name: string) => boolean
  /** Lets go of them, so that another process need not wait until they expire. */
  readonly close: () => void
}

const LEASE_MS = 6000

/** Takes a lease that is free, and renews one's own. A key without an expiry would never be free again: it gets one. */
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
 * Leases in Redis. A process trusts its own lease no longer than Redis keeps it, counted from before it asked: one that was
 * cut off stops before another is elected. While Redis does not answer nobody is.
 */
export function createLeases({ redis, namespace, names, now, leaseMs = LEASE_MS }: LeaseOptions): Leases {
  const self = randomUUID()
  const prefix = `${keyPrefixOf(redis, namespace)}lease:`
  const heldUntilMs = new Map<string, number>()
  // The cache's link logs the state: both connect to the same server.
  const link = new RedisLink({ redis, prefix, now, log: () => undefined, onReady: () => void take() })
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
    // Of all: one may have been taken whose answer has not come yet.
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

/** Without Redis a process knows of no other. */
export const OWN_LEASES: Leases = { start: () => undefined, holds: () => true, close: () => undefined }
