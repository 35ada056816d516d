import { keyPrefixOf } from './key-prefix.ts'
import { RedisLink, type SharedStateOptions } from './redis-link.ts'

/** Limits how often an action is done, for each name. All processes that share the turns count together. */
export interface TurnTaker {
  /** Takes a turn if the previous turn of the same name began at least `leastMs` ago. Never rejects. */
  readonly take: (name: string, leastMs: number) => Promise<TurnResult>
  readonly close: () => void
}

export type TurnResult =
  | { readonly isTaken: true }
  | {
      readonly isTaken: false
      /** Time until the next turn is possible, in milliseconds. */
      readonly leftMs: number
      /**
       * Number of the previous turn. If the number differs at the next call, another process has taken a turn in the meantime.
       */
      readonly previous: number
    }

/** An entry expires after this time without a turn, or after twice `leastMs` if that is longer. */
const KEPT_MS = 600_000

/** Compares times on the server's clock. If that clock was set back, the turn is free. */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local least = tonumber(ARGV[1])
local entry = redis.call('HMGET', KEYS[1], 'at', 'count')
local left = (tonumber(entry[1] or '') or 0) + least - now
if left > 0 and left <= least then return { 0, left, tonumber(entry[2] or '') or 0 } end
redis.call('HSET', KEYS[1], 'at', now)
redis.call('HINCRBY', KEYS[1], 'count', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { 1, 0, 0 }
`

/** Creates the turns of a single process. */
export function createOwnTurns(now: () => number): TurnTaker {
  const turns = new Map<string, { readonly beganMs: number; readonly count: number }>()
  return {
    take: (name, leastMs) => {
      const previous = turns.get(name) ?? { beganMs: -Infinity, count: 0 }
      const leftMs = previous.beganMs + leastMs - now()
      if (leftMs > 0) return Promise.resolve({ isTaken: false, leftMs, previous: previous.count })
      turns.set(name, { beganMs: now(), count: previous.count + 1 })
      return Promise.resolve({ isTaken: true })
    },
    close: () => undefined,
  }
}

/** Creates turns that all processes with the same Redis share. While Redis does not respond, each process has its own turns. */
export function createSharedTurns({ redis, namespace, now }: SharedStateOptions): TurnTaker {
  const prefix = `${keyPrefixOf(redis, namespace)}turn:`
  const own = createOwnTurns(now)
  const link = new RedisLink({ redis, prefix, now })
  return {
    take: async (name, leastMs) => {
      const least = Math.ceil(leastMs)
      const keptMs = Math.max(KEPT_MS, 2 * least)
      const replies = await link.run([['eval', TAKE, 1, prefix + name, least, keptMs]])
      const shared = typeof replies === 'string' ? null : resultOf(replies[0]?.[1])
      return shared ?? own.take(name, leastMs)
    },
    close: () => link.close(),
  }
}

/** Returns null if the reply cannot be read. */
function resultOf(reply: unknown): TurnResult | null {
  if (!Array.isArray(reply)) return null
  const [taken, leftMs, previous]: readonly unknown[] = reply
  if (taken === 1) return { isTaken: true }
  return typeof leftMs === 'number' && typeof previous === 'number'
    ? { isTaken: false, leftMs, previous }
    : null
}
