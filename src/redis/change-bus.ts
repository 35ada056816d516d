import { randomUUID } from 'node:crypto'
import { createMessages } from './change-messages.ts'
import { RedisLink } from './redis-link.ts'
import { Subscription } from './subscription.ts'
import type { Signer } from './signature.ts'

interface ChangeBusOptions {
  readonly url: string
  /** Parts those who share a Redis and have engines of the same name. */
  readonly namespace: string
  readonly signer: Signer
  /** Monotonic milliseconds, as `performance.now`. */
  readonly now: () => number
  /** Messages came that no key has signed, or that came before: users and records are read anew. */
  readonly onDoubt: () => void
}

interface Listener {
  readonly onMessage: (topic: string, about: string) => void
  /** News may have been missed: the subscription is new, or was broken. */
  readonly onGap: () => void
}

/** Short messages to the other replicas. Redis keeps none of them: who was not there reads everything anew at `onGap`. */
export interface ChangeBus {
  /** Resolves when Redis has it, or cannot have it now: then it is told as soon as Redis is back. Never rejects. */
  publish(topic: string, about?: string): Promise<void>
  listen(listener: Listener): void
  close(): void
}

/** Kept for when Redis is back; the oldest goes first. */
const MAX_UNTOLD = 1000
const MAX_MESSAGE_CHARS = 4096
/** What is not signed as it should be may stand for something that was not heard: then all is read anew, but not more often. */
const DOUBT_MS = 5000

export function createChangeBus({ url, namespace, signer, now, onDoubt }: ChangeBusOptions): ChangeBus {
  const channel = `engine-gateway:${namespace}:news`
  const self = randomUUID()
  const messages = createMessages({ self, channel, signer })
  const pending = new Set<string>()
  let listener: Listener | null = null
  let doubt: NodeJS.Timeout | null = null
  let doubtedAt = -Infinity
  // Its state is logged by the cache's link: both lead to the same server.
  const link = new RedisLink({ url, now, log: () => undefined, onReady: () => void tellAll() })
  const subscription = new Subscription({
    url,
    channel,
    onMessage: (text) => {
      const heard = text.length > MAX_MESSAGE_CHARS ? null : messages.read(text)
      if (heard === 'unsigned') suspect()
      else if (heard !== null && heard.from !== self) listener?.onMessage(heard.topic, heard.about)
    },
    onGap: () => listener?.onGap(),
  })

  function suspect(): void {
    doubt ??= setTimeout(doubted, Math.max(0, doubtedAt + DOUBT_MS - now())).unref()
  }

  function doubted(): void {
    doubt = null
    doubtedAt = now()
    onDoubt()
    listener?.onGap()
  }

  async function tell(content: string): Promise<void> {
    const replies = await link.run((pipeline) => pipeline.publish(channel, messages.write(content)), true)
    if (typeof replies !== 'string') return
    pending.add(content)
    const [oldest] = pending
    if (pending.size > MAX_UNTOLD && oldest !== undefined) pending.delete(oldest)
  }

  async function tellAll(): Promise<void> {
    const contents = [...pending]
    pending.clear()
    await Promise.all(contents.map(tell))
  }

  return {
    publish: (topic, about = '') => tell(JSON.stringify([self, topic, about])),
    listen: (heard) => {
      listener = heard
    },
    close: () => {
      if (doubt !== null) clearTimeout(doubt)
      subscription.close()
      link.close()
    },
  }
}
