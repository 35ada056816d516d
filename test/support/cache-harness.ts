import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { createCache } from '../../src/cache/cache.ts'
import type { Cache } from '../../src/cache/cache.ts'
import type { BufferedResponse } from '../../src/request/buffered-response.ts'
import type { CacheRule } from '../../src/cache/entry.ts'
import type { RedisSettings } from '../../src/config/redis-types.ts'
import { createRedisTier } from '../../src/cache/redis-tier.ts'
import type { FloodListener } from '../../src/redis/guarded-subscription.ts'
import { createSigner } from '../../src/redis/signature.ts'

export interface Clock {
  nowMs: number
  readonly now: () => number
}

export function clockAt(nowMs: number): Clock {
  const clock = { nowMs, now: () => clock.nowMs }
  return clock
}

/** Lets a cache store every response. */
export const acceptAll = (): boolean => true

export interface OpenedCache {
  readonly cache: Cache
  /** Events in order, for example `redis:hit`. */
  readonly events: string[]
  /** Lines of the log, as `warn: message (why)`. */
  readonly lines: string[]
}

interface CacheSetup {
  readonly redisUrl?: string
  /** Replaces `redisUrl`. */
  readonly redisSettings?: RedisSettings
  readonly maxBytes?: number
  readonly now?: () => number
  readonly wallNow?: () => number
  readonly signingKeys?: readonly string[]
}

/** Tests of floods have listeners of their own. */
const NO_FLOOD: FloodListener = { onPause: () => undefined, onRecovery: () => undefined }

/** Opens a cache that is closed at the end of the test. */
export function openCache(t: Test, setup: CacheSetup = {}): OpenedCache {
  const { redisUrl, maxBytes = 1024 ** 2, now = () => performance.now(), wallNow = Date.now } = setup
  const settings = setup.redisSettings ?? (redisUrl === undefined ? null : { url: redisUrl })
  const events: string[] = []
  const lines: string[] = []
  const log = (level: string, message: string, why: string | null) => {
    lines.push(`${level}: ${message} (${why ?? ''})`)
  }
  const signer = createSigner(setup.signingKeys ?? [])
  const redis =
    settings === null
      ? null
      : createRedisTier({ redis: settings, namespace: t.name, signer, now, wallNow, log, onFlood: NO_FLOOD })
  const cache = createCache({
    maxBytes,
    redis,
    now,
    onEvent: (tier, result) => void events.push(`${tier}:${result}`),
  })
  t.teardown(() => cache.close())
  return { cache, events, lines }
}

/** Opens a cache whose Redis connection is up and already reports evictions. */
export async function openSharedCache(t: Test, setup: CacheSetup): Promise<OpenedCache> {
  const opened = openCache(t, setup)
  await until(() => opened.lines.length > 0 && opened.events.includes('redis:gap'))
  opened.events.length = 0
  return opened
}

/**
 * Loads an entry that no tier has, and repeats this until Redis has stored it: the cache does not repeat a write that
 * Redis has not acknowledged in time. Before each repetition, every entry with the last tag of the rule is evicted.
 */
export async function loadShared(
  { cache, events }: OpenedCache,
  entry: { readonly key: string; readonly rule: CacheRule; readonly answer: BufferedResponse },
): Promise<void> {
  const { key, rule, answer } = entry
  if (rule.tags.length === 0) throw new Error('only what has tags can be evicted, and loaded again')
  await until(async () => {
    events.length = 0
    await cache.load(key, rule, () => Promise.resolve(answer))
    await until(() => events.some((event) => SETTLED.has(event)))
    if (events.includes('redis:stored')) return true
    await cache.evict(rule.tags.slice(-1))
    return false
  })
}

/** Events that end a load in Redis. */
const SETTLED: ReadonlySet<string> = new Set([
  'redis:stored',
  'redis:error',
  'redis:skipped',
  'redis:refused',
  'memory:refused',
])

export function answerOf(body: string | Buffer, headers: BufferedResponse['headers'] = {}): BufferedResponse {
  return { status: 200, headers: { 'content-type': 'application/json', ...headers }, body: Buffer.from(body) }
}

/** Returns a `fill` that counts its calls. */
export function fillOf(answer: BufferedResponse | (() => BufferedResponse | Promise<BufferedResponse>)) {
  const fill = async () => {
    fill.calls += 1
    return typeof answer === 'function' ? answer() : answer
  }
  fill.calls = 0
  return fill
}

/**
 * Polls a condition that only another process can make true. The timeout is long because the machine may be busy. No
 * assertion about a time depends on it.
 */
export async function until(isTrue: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<number> {
  const start = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - start > withinMs) throw new Error(`Not true within ${withinMs} ms`)
    await wait(5)
  }
  return performance.now() - start
}
