import type { Redis } from 'ioredis'
import { answerWithin, openRedis } from './connection.ts'

interface SubscriptionOptions {
  readonly url: string
  readonly channel: string
  readonly onMessage: (text: string) => void
  /** Messages may have been missed: the subscription is new, or was interrupted. */
  readonly onGap: () => void
  /** Default 5000. Without a heartbeat, a connection that died silently would go unnoticed for many minutes. */
  readonly heartbeatMs?: number
}

/** A connection without an answer for this long is closed. */
const ANSWER_MS = 1000

/** Receives what other processes publish, on a connection of its own. Subscribes again after each reconnect. */
export class Subscription {
  readonly #redis: Redis
  readonly #heartbeat: NodeJS.Timeout
  readonly #options: SubscriptionOptions
  #subscribed = false

  constructor(options: SubscriptionOptions) {
    this.#options = options
    this.#redis = openRedis(options.url)
    // The link logs the state: both connect to the same server.
    this.#redis.on('error', () => undefined)
    this.#redis.on('close', () => (this.#subscribed = false))
    this.#redis.on('ready', () => void this.#subscribe())
    this.#redis.on('message', (_channel, text) => options.onMessage(text))
    this.#heartbeat = setInterval(() => void this.#beat(), options.heartbeatMs ?? 5000).unref()
  }

  close(): void {
    clearInterval(this.#heartbeat)
    this.#redis.disconnect()
  }

  async #subscribe(): Promise<void> {
    try {
      await answerWithin(ANSWER_MS, this.#redis, this.#redis.subscribe(this.#options.channel))
      this.#subscribed = true
      this.#options.onGap()
    } catch {
      // The next heartbeat retries.
    }
  }

  async #beat(): Promise<void> {
    if (this.#redis.status !== 'ready') return
    if (!this.#subscribed) return this.#subscribe()
    try {
      await answerWithin(ANSWER_MS, this.#redis, this.#redis.ping())
    } catch {
      this.#redis.disconnect(true)
    }
  }
}
