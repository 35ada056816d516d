import type { Redis } from 'ioredis'
import { answerWithin, openRedis } from './connection.ts'

interface NewsOptions {
  readonly url: string
  readonly channel: string
  readonly onMessage: (text: string) => void
  /** Messages may have been missed: the subscription is new, or was broken. */
  readonly onGap: () => void
  /** Default 5000. A connection that died without a word would stay deaf for many minutes; a beat finds it. */
  readonly heartbeatMs?: number
}

/** A connection on which nothing is answered for so long is given up. */
const ANSWER_MS = 1000

/** Hears what other processes publish, on a connection of its own; subscribes anew whenever that is back. */
export class Subscription {
  readonly #redis: Redis
  readonly #heartbeat: NodeJS.Timeout
  readonly #options: NewsOptions
  #subscribed = false

  constructor(options: NewsOptions) {
    this.#options = options
    this.#redis = openRedis(options.url)
    // Logged by the link: both connections lead to the same server.
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
      // The next beat tries again.
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
