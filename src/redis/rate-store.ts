import { hash } from 'node:crypto'
import { RedisLink } from './redis-link.ts'

interface RateStoreOptions {
  readonly url: string
  /** Parts those who share a Redis and have engines of the same name. */
  readonly namespace: string
  readonly now: () => number
}

export interface SharedRate {
  /** From one request to the next. */
  readonly intervalMs: number
  readonly burst: number
}

export interface SharedSpent {
  readonly admitted: boolean
  /** Until the whole burst is there again. */
  readonly debtMs: number
}

/** What principals have asked of all replicas together. */
export interface RateStore {
  /** Null: Redis cannot say it now. Never rejects, and never waits longer than the command timeout. */
  readonly spend: (principal: string, rate: SharedRate) => Promise<SharedSpent | null>
  readonly close: () => void
}

/**
 * One step, by the server's clock: no two replicas spend the same request. A refused one writes nothing, and what is paid
 * expires. What stands there and is no number counts as nothing: Lua reads `nan` as one, which equals not even itself.
 */
const SPEND = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local interval = tonumber(ARGV[1])
local full = interval * tonumber(ARGV[2])
local paid = tonumber(redis.call('GET', KEYS[1]) or '') or 0
if paid ~= paid then paid = 0 end
local debt = math.min(math.max(paid - now, 0), full)
if debt + interval > full + 0.01 then return { 0, tostring(debt) } end
debt = debt + interval
redis.call('SET', KEYS[1], string.format('%.3f', now + debt), 'PX', math.ceil(debt))
return { 1, tostring(debt) }
`

export function createRateStore({ url, namespace, now }: RateStoreOptions): RateStore {
  // Its state is logged by the cache's link: both lead to the same server.
  const link = new RedisLink({ url, now, log: () => undefined, onReady: () => undefined })
  return {
    spend: async (principal, { intervalMs, burst }) => {
      const key = `engine-gateway:${namespace}:rate:${hash('sha256', principal, 'base64url')}`
      // With its text, not its hash: after a restart or a failover the server knows no hash, and the text is short.
      const replies = await link.run((pipeline) => pipeline.eval(SPEND, 1, key, intervalMs, burst))
      return typeof replies === 'string' ? null : spentOf(replies[0]?.[1])
    },
    close: () => link.close(),
  }
}

function spentOf(reply: unknown): SharedSpent | null {
  if (!Array.isArray(reply)) return null
  const [admitted, debt]: readonly unknown[] = reply
  const debtMs = Number(debt)
  return Number.isFinite(debtMs) ? { admitted: admitted === 1, debtMs } : null
}
