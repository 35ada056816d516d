import { type GatewayCode, GatewayError } from '../errors.ts'
import type { BufferedResponse } from '../request/buffered-response.ts'
import { SingleFlight } from '../request/single-flight.ts'
import type { CacheHit, Entry, CacheRule } from './entry.ts'
import { cacheHitOf, cacheableOf } from './entry.ts'
import { MemoryTier, entryBytesOf, isServable } from './memory.ts'
import type { SharedEntry, SharedReading, SharedTier } from './shared-tier.ts'
import { isStorable } from './storable.ts'

export type CacheTier = 'memory' | 'redis' | 'upstream'

/**
 * The result of a cache access. `joined`: the request waited for the fill of another request. `refused`: the response was not
 * stored. `stale`: the response was served after its time. `displaced`: an entry was removed to make room. `skipped`: Redis is unreachable. `gap`: evictions of other replicas may
 * have been missed, so all tagged entries were dropped.
 */
export type CacheResult =
  | 'hit'
  | 'miss'
  | 'joined'
  | 'filled'
  | 'failed'
  | 'stored'
  | 'refused'
  | 'stale'
  | 'evicted'
  | 'displaced'
  | 'corrupt'
  | 'error'
  | 'skipped'
  | 'gap'

interface CacheOptions {
  /** The limit of the memory tier. One entry may use an eighth of it. With 0, nothing is cached in memory. */
  readonly maxBytes: number
  readonly redis: SharedTier | null
  /** The monotonic clock, in milliseconds, for example `performance.now`. */
  readonly now: () => number
  readonly onEvent: (tier: CacheTier, result: CacheResult) => void
}

/** The state of the tier that replicas share. `unknown`: Redis has neither replied nor failed yet. */
export type SharedState = 'none' | 'unknown' | 'up' | 'down'

export interface Cache {
  /** Returns a fresh entry of this process without waiting, or null. */
  peek(key: string): CacheHit | null
  /** Returns the same as `peek`, but does not count a miss. */
  peekHit(key: string): CacheHit | null
  /**
   * Reads Redis, then calls `fill` once for all concurrent callers. Call it after a `peek` without a result. Rejects only if `fill`
   * does. If the rule permits expired entries and this process has one, resolves to that entry, and calls `fill` in the background.
   */
  load(key: string, rule: CacheRule, fill: () => Promise<BufferedResponse>): Promise<CacheHit>
  /** Evicts the entries of this process before it returns. The promise is for Redis and the other replicas, and never rejects. */
  evict(tags: readonly string[]): Promise<void>
  readonly size: { readonly entries: number; readonly bytes: number }
  readonly shared: SharedState
  close(): Promise<void>
}

export function createCache(options: CacheOptions): Cache {
  return new TieredCache(options)
}

interface Fill {
  readonly tags: readonly string[]
  /** True if the response may be older than an eviction. Callers that already wait get it, later callers do not. */
  evicted: boolean
}

/** The time between a failed `fill` in the background and the next one for the same entry. */
const RETRY_MS = 1_000

/** The errors that say nothing about the response: the engine, or the way to it, does not work. */
const FAILURES: ReadonlySet<GatewayCode> = new Set([
  'GW_NO_NODE',
  'GW_OVERLOADED',
  'GW_UPSTREAM_FAILED',
  'GW_UPSTREAM_INVALID',
  'GW_UPSTREAM_TIMEOUT',
])

const NO_REDIS: SharedReading = { result: 'skipped', found: null, tokens: null }

class TieredCache implements Cache {
  readonly #options: CacheOptions
  readonly #memory: MemoryTier
  readonly #fills = new SingleFlight<CacheHit, Fill>()
  /** When the last `fill` for an entry whose time is over failed. */
  readonly #failedAtMs = new WeakMap<Entry, number>()

  constructor(options: CacheOptions) {
    const { maxBytes, redis, onEvent } = options
    this.#options = options
    this.#memory = new MemoryTier({ maxBytes, onDisplaced: () => onEvent('memory', 'displaced') })
    redis?.listen({ onEvicted: (tags) => this.#drop(tags), onGap: () => this.#dropTagged() })
  }

  get size() {
    return this.#memory.size
  }

  get shared(): SharedState {
    const { redis } = this.#options
    if (redis === null) return 'none'
    if (redis.isUp === null) return 'unknown'
    return redis.isUp ? 'up' : 'down'
  }

  peek(key: string): CacheHit | null {
    const hit = this.peekHit(key)
    if (hit === null) this.#options.onEvent('memory', 'miss')
    return hit
  }

  peekHit(key: string): CacheHit | null {
    const { now, onEvent } = this.#options
    const nowMs = now()
    const entry = this.#memory.get(key, nowMs)
    if (entry === undefined) return null
    onEvent('memory', 'hit')
    return cacheHitOf(entry, 'memory', nowMs)
  }

  load(key: string, rule: CacheRule, fill: () => Promise<BufferedResponse>): Promise<CacheHit> {
    const nowMs = this.#options.now()
    const running = this.#fills.running(key)
    const last = this.#memory.getStale(key, nowMs)
    if (last !== undefined && this.#needsNoWait(last, nowMs)) {
      const isPaused = nowMs < (this.#failedAtMs.get(last) ?? Number.NEGATIVE_INFINITY) + RETRY_MS
      // The failure is counted, and the next request after the stale time reports it.
      if (running === undefined && !isPaused) this.#beginFill(key, rule, fill).catch(() => undefined)
      return Promise.resolve(this.#staleHit(last, nowMs))
    }
    if (running !== undefined) {
      this.#options.onEvent('upstream', 'joined')
      return running.result
    }
    // The entry may have been filled since the caller's `peek`.
    const entry = this.#memory.get(key, nowMs)
    if (entry !== undefined) return Promise.resolve(cacheHitOf(entry, 'memory', nowMs))
    return this.#beginFill(key, rule, fill)
  }

  evict(tags: readonly string[]): Promise<void> {
    this.#drop(tags)
    return this.#options.redis?.evict(tags) ?? Promise.resolve()
  }

  async close(): Promise<void> {
    this.#memory.clear()
    await this.#options.redis?.close()
  }

  /** Returns true if an expired entry is served at once. */
  #needsNoWait(last: Entry, nowMs: number): boolean {
    const { whileRevalidate = 0, ifError = 0 } = last.stale ?? {}
    return (
      isServable(last, whileRevalidate, nowMs) ||
      (this.#failedAtMs.has(last) && isServable(last, ifError, nowMs))
    )
  }

  #staleHit(last: Entry, nowMs: number): CacheHit {
    this.#options.onEvent('memory', 'stale')
    return cacheHitOf(last, 'memory', nowMs)
  }

  #beginFill(key: string, rule: CacheRule, fill: () => Promise<BufferedResponse>): Promise<CacheHit> {
    const fillState = { tags: rule.tags, evicted: false }
    return this.#fills.begin(key, fillState, () => this.#fillOrLast(key, rule, fill, fillState))
  }

  async #fillOrLast(
    key: string,
    rule: CacheRule,
    fill: () => Promise<BufferedResponse>,
    fillState: Fill,
  ): Promise<CacheHit> {
    try {
      const hit = await this.#fillShared(key, rule, fill, fillState)
      if (hit.response.status >= 500) return this.#lastAfterFailure(key) ?? hit
      // The engine has another response now, for example because the definition was deleted.
      if (!hit.stored && !fillState.evicted) this.#memory.delete(key)
      return hit
    } catch (error) {
      const isFailure = error instanceof GatewayError && FAILURES.has(error.code)
      const last = isFailure ? this.#lastAfterFailure(key) : null
      if (last === null) throw error
      return last
    }
  }

  #lastAfterFailure(key: string): CacheHit | null {
    const nowMs = this.#options.now()
    const last = this.#memory.getStale(key, nowMs)
    if (last === undefined) return null
    this.#failedAtMs.set(last, nowMs)
    return isServable(last, last.stale?.ifError ?? 0, nowMs) ? this.#staleHit(last, nowMs) : null
  }

  async #fillShared(
    key: string,
    rule: CacheRule,
    fill: () => Promise<BufferedResponse>,
    fillState: Fill,
  ): Promise<CacheHit> {
    const { redis, onEvent } = this.#options
    const reading = redis === null ? NO_REDIS : await redis.read(key, rule)
    if (redis !== null) onEvent('redis', reading.result)
    if (reading.found !== null && !fillState.evicted) return this.#adopt(key, rule, reading.found)
    const response = await this.#fill(fill)
    const hit = this.#store(key, rule, response, fillState)
    if (hit.stored && reading.tokens !== null) void this.#share(key, rule, hit.response, reading.tokens)
    return hit
  }

  async #fill(fill: () => Promise<BufferedResponse>): Promise<BufferedResponse> {
    try {
      const response = await fill()
      this.#options.onEvent('upstream', 'filled')
      return response
    } catch (error) {
      this.#options.onEvent('upstream', 'failed')
      throw error
    }
  }

  #store(key: string, rule: CacheRule, response: BufferedResponse, fillState: Fill): CacheHit {
    const { now, onEvent } = this.#options
    const nowMs = now()
    const { accepts, ...times } = rule
    const { seconds } = times
    const isKept = !fillState.evicted && seconds > 0 && isStorable(response) && this.#fits(key, response)
    // `accepts` can parse the body, so it comes after the check of the size.
    if (!isKept || !accepts(response)) {
      onEvent('memory', 'refused')
      return { response, ageSeconds: 0, ttlSeconds: 0, from: 'upstream', stored: false }
    }
    const entry = { ...times, response: cacheableOf(response), storedAtMs: nowMs }
    this.#memory.set(key, entry)
    onEvent('memory', 'stored')
    return cacheHitOf(entry, 'upstream', nowMs)
  }

  /** Stores an entry from Redis in memory, with its remaining time. */
  #adopt(key: string, rule: CacheRule, found: SharedEntry): CacheHit {
    const nowMs = this.#options.now()
    const { response, seconds, ttlMs } = found
    const { accepts: _, ...times } = rule
    const entry: Entry = {
      ...times,
      response: cacheableOf(response),
      seconds,
      storedAtMs: nowMs - (seconds * 1000 - ttlMs),
    }
    if (this.#fits(key, response)) this.#memory.set(key, entry)
    return cacheHitOf(entry, 'redis', nowMs)
  }

  async #share(
    key: string,
    { seconds }: CacheRule,
    response: BufferedResponse,
    tokens: string,
  ): Promise<void> {
    const result = await this.#options.redis?.write(key, { response, seconds }, tokens)
    if (result !== undefined) this.#options.onEvent('redis', result)
  }

  #fits(key: string, response: BufferedResponse): boolean {
    return entryBytesOf(key, response) <= this.#options.maxBytes / 8
  }

  #drop(tags: readonly string[]): void {
    this.#count(this.#memory.evict(tags))
    this.#invalidate((fillState) => fillState.tags.some((tag) => tags.includes(tag)))
  }

  #dropTagged(): void {
    this.#options.onEvent('redis', 'gap')
    this.#count(this.#memory.evictTagged())
    this.#invalidate((fillState) => fillState.tags.length > 0)
  }

  #invalidate(isAffected: (fillState: Fill) => boolean): void {
    for (const fillState of this.#fills.abandon(isAffected)) fillState.evicted = true
  }

  #count(evicted: number): void {
    for (let left = evicted; left > 0; left -= 1) this.#options.onEvent('memory', 'evicted')
  }
}
