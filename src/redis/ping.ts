import { EventEmitter, once } from 'node:events'
import type { RedisSettings } from '../config/redis-types.ts'
import { answerWithin } from './connection.ts'
import { openClient, type RedisReply } from './redis-client.ts'
import { reasonOf } from './redis-link.ts'

/**
 * Connects, and sends PING to Redis. An error of one sentinel or of one node of a cluster is not final, because the others may
 * respond. @throws Error that says why Redis does not respond, without credentials
 */
export async function pingRedis(settings: RedisSettings, withinMs: number): Promise<void> {
  const isLastWord = settings.url !== undefined
  // Later errors have no other listener.
  const news = new EventEmitter().on('error', () => undefined)
  const reasons: Error[] = []
  const ready = once(news, 'ready')
  const client = openClient(settings, {
    onReady: () => news.emit('ready'),
    onClose: () => undefined,
    onError: (error) => {
      const reason = new Error(reasonOf(error))
      reasons.push(reason)
      // `once` rejects with the first error and ignores the others.
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

function raiseRefusal([reply]: readonly RedisReply[]): void {
  const [error] = reply ?? []
  if (error !== null && error !== undefined) throw new Error(reasonOf(error))
}
