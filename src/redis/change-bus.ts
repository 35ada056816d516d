import { randomUUID } from 'node:crypto'
import { createMessages } from './change-messages.ts'
import { type FloodListener, GuardedSubscription } from './guarded-subscription.ts'
import { RedisLink, type SharedStateOptions } from './redis-link.ts'
import type { Signer } from './signature.ts'

interface ChangeBusOptions extends SharedStateOptions {
  readonly signer: Signer
  /** Called if messages arrive that are not signed by a key, or that are repeated. Users and records must then be read again. */
  readonly onInvalidMessages: () => void
  readonly onFlood: FloodListener
}

interface ChangeListener {
  readonly onMessage: (topic: string, about: string) => void
  /** Called if messages may have been missed: the subscription is new, or was interrupted. */
  readonly onGap: () => void
}

/**
 * Sends short messages to the other replicas. Redis does not store them: a replica that was not connected reads everything again
 * at `onGap`.
 */
export interface ChangeBus {
  /** Resolves when Redis has the message, or when Redis is unreachable; the message is then sent later. Never rejects. */
  publish(topic: string, about?: string): Promise<void>
  listen(listener: ChangeListener): void
  close(): void
}

/** Maximum number of messages that wait until Redis is reachable again. The oldest is dropped first. */
const MAX_PENDING = 1000
const MAX_MESSAGE_CHARS = 4096
/** Minimum time between rereads. An invalid message may have replaced a valid one, so everything is read again. */
const REREAD_INTERVAL_MS = 5000

export function createChangeBus({
  redis,
  namespace,
  signer,
  now,
  onInvalidMessages,
  onFlood,
}: ChangeBusOptions): ChangeBus {
  const channel = `engine-gateway:${namespace}:news`
  const self = randomUUID()
  const messages = createMessages({ self, channel, signer })
  const pending = new Set<string>()
  let listener: ChangeListener | null = null
  let rereadTimer: NodeJS.Timeout | null = null
  let rereadAt = -Infinity
  const link = new RedisLink({ redis, prefix: channel, now, onReady: () => void flush() })
  const subscription = new GuardedSubscription({
    redis,
    channel,
    now,
    onMessage: (text) => {
      const message = text.length > MAX_MESSAGE_CHARS ? null : messages.read(text)
      if (message === null) return false
      if (message !== 'unsigned') {
        if (message.from !== self) listener?.onMessage(message.topic, message.about)
        return true
      }
      scheduleReread()
      return false
    },
    onGap: () => listener?.onGap(),
    onFlood,
  })

  function scheduleReread(): void {
    rereadTimer ??= setTimeout(reread, Math.max(0, rereadAt + REREAD_INTERVAL_MS - now())).unref()
  }

  function reread(): void {
    rereadTimer = null
    rereadAt = now()
    // A flood is reported once.
    if (!subscription.isFlooded) onInvalidMessages()
    listener?.onGap()
  }

  async function send(content: string): Promise<void> {
    const replies = await link.run([['publish', channel, messages.write(content)]], true)
    if (typeof replies !== 'string') return
    pending.add(content)
    const [oldest] = pending
    if (pending.size > MAX_PENDING && oldest !== undefined) pending.delete(oldest)
  }

  async function flush(): Promise<void> {
    const contents = [...pending]
    pending.clear()
    await Promise.all(contents.map(send))
  }

  return {
    publish: (topic, about = '') => send(JSON.stringify([self, topic, about])),
    listen: (next) => {
      listener = next
    },
    close: () => {
      if (rereadTimer !== null) clearTimeout(rereadTimer)
      subscription.close()
      link.close()
    },
  }
}
