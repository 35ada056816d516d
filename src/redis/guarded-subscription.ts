import type { RedisSettings } from '../config/redis-types.ts'
import { FloodGuard } from './flood-guard.ts'
import { RedisSubscription, type SubscriptionOptions } from './subscription.ts'

/** Receives the pauses of a subscription. */
export interface FloodListener {
  /** Called at each pause. `isFirst` is false if the subscription was only on trial. */
  readonly onPause: (isFirst: boolean) => void
  readonly onRecovery: () => void
}

interface GuardedSubscriptionOptions {
  readonly redis: RedisSettings
  readonly channel: string
  /** The monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Returns whether the message is valid. */
  readonly onMessage: (text: string) => boolean
  /** Called if messages may have been missed. During a pause, it is called in intervals of `GAP_INTERVAL_MS`. */
  readonly onGap: () => void
  readonly onFlood: FloodListener
  /** Opens the subscription. Default: a `RedisSubscription`. */
  readonly subscribe?: (options: SubscriptionOptions) => { close(): void }
}

/** Interval in which a pause counts as a gap. Changes of other gateways take effect after this time at the latest. */
const GAP_INTERVAL_MS = 5000

/**
 * A subscription that ends during a flood of invalid messages, and begins again after it. Its connection is closed during a pause,
 * because Redis and the socket may still hold thousands of messages.
 */
export class GuardedSubscription {
  readonly #options: GuardedSubscriptionOptions
  readonly #guard: FloodGuard
  #subscription: { close(): void } | null
  #timer: NodeJS.Timeout | null = null

  constructor(options: GuardedSubscriptionOptions) {
    this.#options = options
    this.#guard = new FloodGuard({ now: options.now })
    this.#subscription = this.#open()
  }

  get isFlooded(): boolean {
    return this.#guard.isFlooded
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#subscription?.close()
  }

  #open(): { close(): void } {
    const { redis, channel, onGap, subscribe = openSubscription } = this.#options
    return subscribe({ redis, channel, onGap, onMessage: (text) => this.#receive(text) })
  }

  #receive(text: string): void {
    // A closed connection still delivers the messages that it has read.
    if (this.#guard.isPaused || this.#options.onMessage(text)) return
    const isFirst = !this.#guard.isFlooded
    if (!this.#guard.add()) return
    this.#subscription?.close()
    this.#subscription = null
    this.#timer ??= setInterval(() => this.#continue(), GAP_INTERVAL_MS).unref()
    this.#options.onFlood.onPause(isFirst)
  }

  #continue(): void {
    const step = this.#guard.next()
    // The new subscription reports a gap itself.
    if (step === 'subscribe') this.#subscription = this.#open()
    else if (this.#guard.isPaused) this.#options.onGap()
    if (step !== 'recovered') return
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#options.onFlood.onRecovery()
  }
}

function openSubscription(options: SubscriptionOptions): RedisSubscription {
  return new RedisSubscription(options)
}
