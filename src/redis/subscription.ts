import { endClient } from './connection-errors.ts'
import type { Redis } from 'ioredis'
import type { RedisSettings } from '../config/redis-types.ts'
import { answerWithin, bytesReadOf, openConnection } from './connection.ts'

export interface SubscriptionOptions {
  readonly redis: RedisSettings
  readonly channel: string
  readonly onMessage: (text: string) => void
  /** Called if messages may have been missed: the subscription is new, or was interrupted. */
  readonly onGap: () => void
  /**
   * Interval of heartbeats; default 5000. Without a heartbeat, a connection that died silently would go unnoticed for many
   * minutes.
   */
  readonly heartbeatMs?: number
}

/** A connection without a response for this long is closed. */
const ANSWER_MS = 1000

/**
 * Receives the messages of other processes on a connection of its own. It subscribes again after each reconnect. In a cluster,
 * every node forwards the messages that are published at any node.
 */
export class RedisSubscription {
  readonly #redis: Redis
  readonly #close: () => void
  readonly #heartbeat: NodeJS.Timeout
  readonly #options: SubscriptionOptions
  #subscribed = false

  constructor(options: SubscriptionOptions) {
    this.#options = options
    // The link logs the state: both connect to the same server.
    const { redis, close } = openConnection(options.redis, () => undefined)
    this.#redis = redis
    this.#close = close
    this.#redis.on('close', () => (this.#subscribed = false))
    this.#redis.on('ready', () => void this.#subscribe())
    this.#redis.on('message', (_channel, text) => options.onMessage(text))
    this.#heartbeat = setInterval(() => void this.#beat(), options.heartbeatMs ?? 5000).unref()
  }

  close(): void {
    clearInterval(this.#heartbeat)
    this.#close()
  }

  async #subscribe(): Promise<void> {
    try {
      await this.#answer(this.#redis.subscribe(this.#options.channel))
      this.#subscribed = true
      this.#options.onGap()
    } catch {
      // The next heartbeat retries.
    }
  }

  async #beat(): Promise<void> {
    if (this.#redis.status !== 'ready') return
    if (!this.#subscribed) return this.#subscribe()
    const { stream } = this.#redis
    try {
      await this.#answer(this.#redis.ping())
    } catch {
      // Do not close a newer connection that has replaced this one.
      if (this.#redis.status === 'ready' && this.#redis.stream === stream) endClient(this.#redis, true)
    }
  }

  #answer<T>(answer: Promise<T>): Promise<T> {
    return answerWithin(ANSWER_MS, () => bytesReadOf(this.#redis), answer)
  }
}
