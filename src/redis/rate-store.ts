import { hash } from 'node:crypto'
import { RedisLink, type SharedStateOptions } from './redis-link.ts'

export interface SharedRate {
  /** Time between two requests at the limit. */
  readonly intervalMs: number
  readonly burst: number
}

export interface SharedRateResult {
  readonly admitted: boolean
  /** Time until the full burst is available again. */
  readonly debtMs: number
}

/** The requests of each principal, counted over all replicas. */
export interface RateStore {
  /** Resolves with null if Redis does not respond. Never rejects, and never waits longer than the command timeout. */
  readonly consume: (principal: string, rate: SharedRate) => Promise<SharedRateResult | null>
  readonly close: () => void
}

/**
 * A GCRA step on the server's clock, so that no two replicas consume the same request. A refused request writes nothing, and an
 * entry expires once the full burst is available. A value that is not a number counts as zero: Lua reads `nan` as a number that
 * does not equal itself.
 */
const CONSUME = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local interval = tonumber(ARGV[1])
local full = interval * tonumber(ARGV[2])
local tat = tonumber(redis.call('GET', KEYS[1]) or '') or 0
if tat ~= tat then tat = 0 end
local debt = math.min(math.max(tat - now, 0), full)
if debt + interval > full + 0.01 then return { 0, tostring(debt) } end
debt = debt + interval
redis.call('SET', KEYS[1], string.format('%.3f', now + debt), 'PX', math.ceil(debt))
return { 1, tostring(debt) }
`

export function createRateStore({ redis, namespace, now }: SharedStateOptions): RateStore {
  const prefix = `engine-gateway:${namespace}:rate:`
  const link = new RedisLink({ redis, prefix, now })
  return {
    consume: async (principal, { intervalMs, burst }) => {
      const key = prefix + hash('sha256', principal, 'base64url')
      // Sends the script's text instead of its hash. After a restart or a failover the server does not know the hash, and the
      // text is short.
      const replies = await link.run([['eval', CONSUME, 1, key, intervalMs, burst]])
      return typeof replies === 'string' ? null : resultOf(replies[0]?.[1])
    },
    close: () => link.close(),
  }
}

function resultOf(reply: unknown): SharedRateResult | null {
  if (!Array.isArray(reply)) return null
  const [admitted, debt]: readonly unknown[] = reply
  const debtMs = Number(debt)
  return Number.isFinite(debtMs) ? { admitted: admitted === 1, debtMs } : null
}
