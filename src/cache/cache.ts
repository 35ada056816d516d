import type { Answer } from '../request/answer.ts'
import type { CacheHit, Entry, CacheRule } from './entry.ts'
import { cacheHitOf, keptOf } from './entry.ts'
import { MemoryTier, bytesOf } from './memory.ts'
import type { Found, Reading, RedisTier } from './redis-tier.ts'
import { isStorable } from './storable.ts'

export type CacheTier = 'memory' | 'redis' | 'upstream'

/**
 * `joined`: waited for another's fill. `refused`: not to be stored. `displaced`: made room. `skipped`: Redis is away.
 * `gap`: evictions of other replicas may have been missed, so all that is tagged was dropped.
 */
export type CacheResult =
  | 'hit'
  | 'miss'
  | 'joined'
  | 'filled'
  | 'failed'
  | 'stored'
  | 'refused'
  | 'evicted'
  | 'displaced'
  | 'corrupt'
  | 'error'
  | 'skipped'
  | 'gap'

interface CacheOptions {
  /** Of the memory tier; an entry may take an eighth of it. 0: nothing is held in memory. */
  readonly maxBytes: number
  readonly redis: RedisTier | null
  /** Monotonic milliseconds, as `performance.now`. */
  readonly now: () => number
  readonly onEvent: (tier: CacheTier, result: CacheResult) => void
}

export interface Cache {
  /** A fresh entry of this process, without waiting. */
  peek(key: string): CacheHit | null
  /** After a `peek` in vain: Redis, then one `fill` however many ask. Rejects only as `fill` does. */
  load(key: string, rule: CacheRule, fill: () => Promise<Answer>): Promise<CacheHit>
  /** This process is clean on return; the promise is for Redis and the other replicas, and never rejects. */
  evict(tags: readonly string[]): Promise<void>
  readonly size: { readonly entries: number; readonly bytes: number }
  close(): Promise<void>
}

export function createCache(options: CacheOptions): Cache {
  return new TieredCache(options)
}

interface Flight {
  readonly tags: readonly string[]
  /** Its answer may be older than the eviction: those who wait get it, nobody after them. */
  evicted: boolean
}

const NOT_ASKED: Reading = { result: 'skipped', found: null, tokens: null }

class TieredCache implements Cache {
  readonly #options: CacheOptions
  readonly #memory: MemoryTier
  /** As many as there are requests under way at most. */
  readonly #flights = new Map<string, { readonly flight: Flight; readonly held: Promise<CacheHit> }>()

  constructor(options: CacheOptions) {
    const { maxBytes, redis, onEvent } = options
    this.#options = options
    this.#memory = new MemoryTier({ maxBytes, onDisplaced: () => onEvent('memory', 'displaced') })
    redis?.listen({ onEvicted: (tags) => this.#drop(tags), onGap: () => this.#dropTagged() })
  }

  get size() {
    return this.#memory.size
  }

  peek(key: string): CacheHit | null {
    const { now, onEvent } = this.#options
    const nowMs = now()
    const entry = this.#memory.get(key, nowMs)
    onEvent('memory', entry === undefined ? 'miss' : 'hit')
    return entry === undefined ? null : cacheHitOf(entry, 'memory', nowMs)
  }

  load(key: string, rule: CacheRule, fill: () => Promise<Answer>): Promise<CacheHit> {
    const running = this.#flights.get(key)
    if (running !== undefined) {
      this.#options.onEvent('upstream', 'joined')
      return running.held
    }
    // Filled between the caller's peek and now.
    const nowMs = this.#options.now()
    const entry = this.#memory.get(key, nowMs)
    if (entry !== undefined) return Promise.resolve(cacheHitOf(entry, 'memory', nowMs))
    const flight = { tags: rule.tags, evicted: false }
    const held = this.#fillShared(key, rule, fill, flight).finally(() => {
      if (this.#flights.get(key)?.flight === flight) this.#flights.delete(key)
    })
    this.#flights.set(key, { flight, held })
    return held
  }

  evict(tags: readonly string[]): Promise<void> {
    this.#drop(tags)
    return this.#options.redis?.evict(tags) ?? Promise.resolve()
  }

  async close(): Promise<void> {
    this.#memory.clear()
    await this.#options.redis?.close()
  }

  async #fillShared(
    key: string,
    rule: CacheRule,
    fill: () => Promise<Answer>,
    flight: Flight,
  ): Promise<CacheHit> {
    const { redis, onEvent } = this.#options
    const reading = redis === null ? NOT_ASKED : await redis.read(key, rule)
    if (redis !== null) onEvent('redis', reading.result)
    if (reading.found !== null && !flight.evicted) return this.#adopt(key, rule, reading.found)
    const answer = await this.#fill(fill)
    const held = this.#keep(key, rule, answer, flight)
    if (held.stored && reading.tokens !== null) void this.#share(key, rule, held.answer, reading.tokens)
    return held
  }

  async #fill(fill: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await fill()
      this.#options.onEvent('upstream', 'filled')
      return answer
    } catch (error) {
      this.#options.onEvent('upstream', 'failed')
      throw error
    }
  }

  #keep(key: string, rule: CacheRule, answer: Answer, flight: Flight): CacheHit {
    const { now, onEvent } = this.#options
    const nowMs = now()
    if (flight.evicted || rule.seconds <= 0 || !isStorable(answer) || !this.#fits(key, answer)) {
      onEvent('memory', 'refused')
      return { answer, ageSeconds: 0, ttlSeconds: 0, from: 'upstream', stored: false }
    }
    const entry = { ...rule, answer: keptOf(answer), storedAtMs: nowMs }
    this.#memory.set(key, entry)
    onEvent('memory', 'stored')
    return cacheHitOf(entry, 'upstream', nowMs)
  }

  /** Takes what Redis held, with the time it has left there. */
  #adopt(key: string, { tags }: CacheRule, found: Found): CacheHit {
    const nowMs = this.#options.now()
    const { answer, seconds, ttlMs } = found
    const entry: Entry = {
      answer: keptOf(answer),
      seconds,
      tags,
      storedAtMs: nowMs - (seconds * 1000 - ttlMs),
    }
    if (this.#fits(key, answer)) this.#memory.set(key, entry)
    return cacheHitOf(entry, 'redis', nowMs)
  }

  async #share(key: string, { seconds }: CacheRule, answer: Answer, tokens: string): Promise<void> {
    const result = await this.#options.redis?.write(key, { answer, seconds }, tokens)
    if (result !== undefined) this.#options.onEvent('redis', result)
  }

  #fits(key: string, answer: Answer): boolean {
    return bytesOf(key, answer) <= this.#options.maxBytes / 8
  }

  #drop(tags: readonly string[]): void {
    this.#count(this.#memory.evict(tags))
    this.#invalidate((flight) => flight.tags.some((tag) => tags.includes(tag)))
  }

  #dropTagged(): void {
    this.#options.onEvent('redis', 'gap')
    this.#count(this.#memory.evictTagged())
    this.#invalidate((flight) => flight.tags.length > 0)
  }

  #invalidate(isMeant: (flight: Flight) => boolean): void {
    for (const [key, { flight }] of this.#flights) {
      if (!isMeant(flight)) continue
      flight.evicted = true
      this.#flights.delete(key)
    }
  }

  #count(evicted: number): void {
    for (let left = evicted; left > 0; left -= 1) this.#options.onEvent('memory', 'evicted')
  }
}
