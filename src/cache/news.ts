import { randomUUID } from 'node:crypto'
import { RedisLink } from './redis-link.ts'
import { RedisNews } from './redis-news.ts'

interface NewsOptions {
  readonly url: string
  /** Parts those who share a Redis and have engines of the same name. */
  readonly namespace: string
  /** Monotonic milliseconds, as `performance.now`. */
  readonly now: () => number
}

interface Listener {
  readonly onNews: (topic: string, about: string) => void
  /** News may have been missed: the subscription is new, or was broken. */
  readonly onGap: () => void
}

/** Short messages to the other replicas. Redis keeps none of them: who was not there reads everything anew at `onGap`. */
export interface News {
  /** Resolves when Redis has it, or cannot have it now: then it is told as soon as Redis is back. Never rejects. */
  publish(topic: string, about?: string): Promise<void>
  listen(listener: Listener): void
  close(): void
}

/** Kept for when Redis is back; the oldest goes first. */
const MAX_UNTOLD = 1000
const MAX_MESSAGE_CHARS = 4096

export function createNews({ url, namespace, now }: NewsOptions): News {
  const channel = `engine-gateway:${namespace}:news`
  const self = randomUUID()
  const untold = new Set<string>()
  let listener: Listener | null = null
  // Its state is logged by the cache's link: both lead to the same server.
  const link = new RedisLink({ url, now, log: () => undefined, onReady: () => void tellAll() })
  const subscription = new RedisNews({
    url,
    channel,
    onMessage: (text) => {
      const message = text.length > MAX_MESSAGE_CHARS ? null : messageOf(text)
      if (message !== null && message[0] !== self) listener?.onNews(message[1], message[2])
    },
    onGap: () => listener?.onGap(),
  })

  async function tell(message: string): Promise<void> {
    const replies = await link.run((pipeline) => pipeline.publish(channel, message), true)
    if (typeof replies !== 'string') return
    untold.add(message)
    const [oldest] = untold
    if (untold.size > MAX_UNTOLD && oldest !== undefined) untold.delete(oldest)
  }

  async function tellAll(): Promise<void> {
    const messages = [...untold]
    untold.clear()
    await Promise.all(messages.map(tell))
  }

  return {
    publish: (topic, about = '') => tell(JSON.stringify([self, topic, about])),
    listen: (heard) => {
      listener = heard
    },
    close: () => {
      subscription.close()
      link.close()
    },
  }
}

function messageOf(text: string): readonly [from: string, topic: string, about: string] | null {
  try {
    const message: unknown = JSON.parse(text)
    if (!Array.isArray(message)) return null
    const [from, topic, about]: readonly unknown[] = message
    const isMessage = typeof from === 'string' && typeof topic === 'string' && typeof about === 'string'
    return isMessage ? [from, topic, about] : null
  } catch {
    return null
  }
}
