import { EventEmitter, once } from 'node:events'
import type { RedisSettings } from '../config/redis-types.ts'
import { answerWithin } from './connection.ts'
import { openClient, type Reply } from './redis-client.ts'
import { reasonOf } from './redis-link.ts'

/**
 * Connects, and has Redis answer PING. What one sentinel or one node of a cluster says is not the last word: the others are
 * waited for. @throws Error that says why it does not answer, without a credential
 */
export async function pingRedis(settings: RedisSettings, withinMs: number): Promise<void> {
  const isLastWord = settings.url !== undefined
  // A later error has no other listener.
  const news = new EventEmitter().on('error', () => undefined)
  const reasons: Error[] = []
  const ready = once(news, 'ready')
  const client = openClient(settings, {
    onReady: () => news.emit('ready'),
    onClose: () => undefined,
    onError: (error) => {
      const reason = new Error(reasonOf(error))
      reasons.push(reason)
      // `once` rejects with it, and hears of no other.
      if (isLastWord && reasons.length === 1) news.emit('error', reason)
    },
  })
  try {
    const answer = ready.then(() => client.send([['ping']])).then(raiseRefusal)
    await answerWithin(withinMs, client.bytesRead, answer)
  } catch (error) {
    throw reasons.at(-1) ?? error
  } finally {
    client.close()
  }
}

function raiseRefusal([reply]: readonly Reply[]): void {
  const [error] = reply ?? []
  if (error !== null && error !== undefined) throw new Error(reasonOf(error))
}
