import { hash, randomBytes, randomUUID } from 'node:crypto'
import { keyPrefixOf } from '../redis/key-prefix.ts'
import type { RedisCommand } from '../redis/redis-client.ts'
import type { CacheRule } from './entry.ts'
import { MAX_ENCODED_BYTES, encode } from './envelope.ts'
import { RedisLink, type RedisLog, type SharedStateOptions } from '../redis/redis-link.ts'
import { type FloodListener, GuardedSubscription } from '../redis/guarded-subscription.ts'
import {
  ALL,
  foundIn,
  isInvalidToken,
  MAX_TAGS,
  parseMessage,
  TOKEN_READ_BYTES,
  tokensOf,
} from './redis-replies.ts'
import type { SharedEntry, SharedReading, SharedTier, TierListener } from './shared-tier.ts'
import { SIGNATURE_BYTES, type Signer } from '../redis/signature.ts'

interface RedisTierOptions extends SharedStateOptions {
  readonly signer: Signer
  /** The wall clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly wallNow?: () => number
  readonly log: RedisLog
  readonly onFlood: FloodListener
}

const TOKEN_TTL_MS = 7 * 24 * 3600 * 1000
const MAX_MESSAGE_CHARS = 64 * 1024
/** Longer than the replication delay of a server that becomes the primary, and longer than its election. */
const REPEAT_MS = 60_000

const SKIPPED: SharedReading = { result: 'skipped', found: null, tokens: null }
const FAILED: SharedReading = { result: 'error', found: null, tokens: null }

export function createRedisTier(options: RedisTierOptions): SharedTier {
  return new RedisTier(options)
}

/**
 * The tier in Redis. Each tag has a random token in Redis. An entry contains the tokens that its tags had *before* its response was
 * requested, and it is valid only while they are unchanged. The eviction of a tag deletes its token. Therefore a response that was
 * in flight during an eviction of its tag is never served, regardless of the replica that requested it.
 */
class RedisTier implements SharedTier {
  readonly #options: RedisTierOptions
  readonly #link: RedisLink
  readonly #subscription: GuardedSubscription
  readonly #prefix: string
  readonly #channel: string
  readonly #self = randomUUID()
  /** Tags that were evicted in this process and not yet sent to Redis. */
  readonly #pending = new Set<string>()
  /** Tags that were sent to Redis within `REPEAT_MS`, with their times. A server that becomes the primary may not have received them. */
  readonly #recent = new Map<string, number>()
  /** Tags that are being sent to Redis. */
  readonly #inFlight = new Set<string>()
  #flushing: Promise<void> | null = null
  #listener: TierListener | null = null

  constructor(options: RedisTierOptions) {
    const { redis, namespace, now, log, onFlood } = options
    this.#options = options
    this.#prefix = keyPrefixOf(redis, namespace)
    this.#channel = `${this.#prefix}evict`
    this.#link = new RedisLink({
      redis,
      prefix: this.#prefix,
      now,
      log,
      onReady: () => void this.#repeat(),
    })
    this.#subscription = new GuardedSubscription({
      redis,
      channel: this.#channel,
      now,
      onMessage: (text) => this.#receive(text),
      onGap: () => this.#listener?.onGap(),
      onFlood,
    })
  }

  get isUp(): boolean | null {
    return this.#link.isUp
  }

  listen(listener: TierListener): void {
    this.#listener = listener
  }

  async read(key: string, { tags, seconds }: CacheRule): Promise<SharedReading> {
    if (this.#isEvicted(tags)) {
      void this.#flush()
      return SKIPPED
    }
    const name = this.#nameOf(key)
    const tokenNames = this.#tokenNamesOf(tags)
    const replies = await this.#link.run([
      ['pttl', name],
      // At most the length that a gateway writes is read.
      ['getrangeBuffer', name, 0, SIGNATURE_BYTES + MAX_ENCODED_BYTES],
      ...readsOf(tokenNames),
    ])
    if (typeof replies === 'string') return replies === 'skipped' ? SKIPPED : FAILED
    const tokens = tokensOf(replies.slice(2)) ?? (await this.#claim(tokenNames))
    const { signer, wallNow = Date.now } = this.#options
    const found = foundIn(replies, { key, name, seconds, signer, nowMs: wallNow() })
    if (found === 'corrupt') {
      await this.#link.run([['del', name]])
      return { result: 'corrupt', found: null, tokens }
    }
    if (found === null || found.tokens !== tokens) return { result: 'miss', found: null, tokens }
    return { result: 'hit', found, tokens }
  }

  async write(key: string, { response, seconds }: Omit<SharedEntry, 'ttlMs'>, tokens: string) {
    const { signer, wallNow = Date.now } = this.#options
    const value = encode(key, { response, seconds, tokens, atMs: wallNow() })
    if (value === null) return 'refused'
    const name = this.#nameOf(key)
    const replies = await this.#link.run([['set', name, signer.sign(name, value), 'PX', seconds * 1000]])
    if (typeof replies === 'string') return replies
    return replies[0]?.[0] === null ? 'stored' : 'error'
  }

  async evict(tags: readonly string[]): Promise<void> {
    this.#addPending(tags)
    await this.#flush()
  }

  async close(): Promise<void> {
    await this.#flushing
    this.#subscription.close()
    this.#link.close()
  }

  #addPending(tags: Iterable<string>): void {
    for (const tag of tags) this.#pending.add(tag)
    if (this.#pending.size <= MAX_TAGS) return
    this.#pending.clear()
    this.#pending.add(ALL)
  }

  /** Repeats recent evictions. Redis replicates after it has replied, so deleted tokens may exist again after a failover. */
  async #repeat(): Promise<void> {
    this.#dropOldRecent()
    this.#addPending(this.#recent.keys())
    await this.#flush()
  }

  #addRecent(tags: readonly string[]): void {
    this.#dropOldRecent()
    const nowMs = this.#options.now()
    // Each tag is deleted and inserted again, so that the oldest one is always the first.
    for (const tag of this.#recent.size + tags.length > MAX_TAGS ? [ALL] : tags) {
      this.#recent.delete(tag)
      this.#recent.set(tag, nowMs)
    }
  }

  #dropOldRecent(): void {
    const oldestMs = this.#options.now() - REPEAT_MS
    for (const [tag, atMs] of this.#recent) {
      if (atMs >= oldestMs) return
      this.#recent.delete(tag)
    }
  }

  // An entry that this process evicted may still be in Redis until the eviction is sent.
  #isEvicted(tags: readonly string[]): boolean {
    if (this.#pending.size + this.#inFlight.size === 0) return false
    return [ALL, ...tags].some((tag) => this.#pending.has(tag) || this.#inFlight.has(tag))
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#flushAll().finally(() => (this.#flushing = null))
    return this.#flushing
  }

  async #flushAll(): Promise<void> {
    while (this.#pending.size > 0) {
      const tags = [...this.#pending]
      // The tags are kept separate from `#pending`, because an eviction that is added during the send must not count as sent.
      move(tags, this.#pending, this.#inFlight)
      const isSent = await this.#send(tags)
      if (isSent) this.#addRecent(tags)
      else move(tags, this.#inFlight, this.#pending)
      this.#inFlight.clear()
      if (!isSent) return
    }
  }

  async #send(tags: readonly string[]): Promise<boolean> {
    const deletions = tags.map((tag) => ['del', this.#tokenNameOf(tag)] as const)
    // The tokens are deleted before the message is sent. A replica that has received the message must not find the tokens.
    if (typeof (await this.#link.run(deletions, true)) === 'string') return false
    const message = JSON.stringify({ from: this.#self, tags })
    return typeof (await this.#link.run([['publish', this.#channel, message]], true)) !== 'string'
  }

  // Completed before the response is requested, so that every later eviction deletes this token.
  async #claim(names: readonly string[]): Promise<string | null> {
    const replies = await this.#link.run([
      ...names.map((name) => ['set', name, newToken(), 'PX', TOKEN_TTL_MS, 'NX'] as const),
      ...readsOf(names),
    ])
    if (typeof replies === 'string') return null
    const read = replies.slice(names.length)
    // An invalid value would prevent a token. Its deletion evicts the tag, which is always safe.
    const invalid = names.filter((_, index) => isInvalidToken(read[index]))
    if (invalid.length > 0) await this.#link.run(invalid.map((name) => ['del', name] as const))
    return tokensOf(read)
  }

  /** Returns whether the message is valid. */
  #receive(text: string): boolean {
    const message = text.length > MAX_MESSAGE_CHARS ? null : parseMessage(text)
    if (message === null) return false
    if (message.from === this.#self) return true
    if (message.tags.includes(ALL)) this.#listener?.onGap()
    else this.#listener?.onEvicted(message.tags)
    return true
  }

  #nameOf(key: string): string {
    return `${this.#prefix}entry:${hash('sha256', key, 'base64url')}`
  }

  #tokenNamesOf(tags: readonly string[]): string[] {
    return [ALL, ...tags].map((tag) => this.#tokenNameOf(tag))
  }

  #tokenNameOf(tag: string): string {
    return `${this.#prefix}tag:${hash('sha256', tag, 'base64url')}`
  }
}

function readsOf(names: readonly string[]): readonly RedisCommand[] {
  return names.map((name) => ['getrange', name, 0, TOKEN_READ_BYTES - 1])
}

function newToken(): string {
  return randomBytes(9).toString('base64url')
}

function move(tags: readonly string[], from: Set<string>, to: Set<string>): void {
  for (const tag of tags) {
    from.delete(tag)
    to.add(tag)
  }
}
