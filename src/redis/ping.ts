import { answerWithin, openRedis } from './connection.ts'
import { reasonOf } from './redis-link.ts'

/**
 * Connects, and has Redis answer PING. @throws Error that says why it does not, without a credential
 * @param url `redis://user:secret@host:6379/0`
 */
export async function pingRedis(url: string, withinMs: number): Promise<void> {
  const redis = openRedis(url)
  try {
    await answerWithin(
      withinMs,
      redis,
      new Promise<void>((resolve, reject) => {
        redis.on('error', (error) => reject(new Error(reasonOf(error))))
        redis.once('ready', () => {
          redis.ping().then(() => resolve(), reject)
        })
      }),
    )
  } finally {
    redis.disconnect()
  }
}
