import { Redis } from 'ioredis'
import { startDeadline } from './deadline.ts'

/** For the connection, and once more for what is said before the first command. */
const CONNECT_MS = 1000

/**
 * A connection on which nothing waits: a command is sent at once, or it fails. ioredis's own defaults keep a command waiting
 * for seconds while the server is away. Its own timers are not used: they give up what has been answered while this process
 * was busy. So each command needs `answerWithin`.
 */
export function openRedis(url: string): Redis {
  const redis = new Redis(url, {
    connectTimeout: 0,
    // How long a connection that is given up may take to close; its commands fail at the latest then.
    disconnectTimeout: 50,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    retryStrategy: (attempt) => Math.min(2000, 50 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2),
  })
  watchConnecting(redis)
  return redis
}

/** What Redis answers. @throws Error when it has not answered in time */
export function answerWithin<T>(ms: number, redis: Redis, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = startDeadline(ms, {
      // A stream that is still to be made has none.
      heard: () => (redis.status === 'ready' ? redis.stream.bytesRead : 0),
      onMissed: () => reject(new Error('Command timed out')),
    })
    answer.finally(callOff).then(resolve, reject)
  })
}

function watchConnecting(redis: Redis): void {
  let callOff: (() => void) | null = null
  const begin = (what: string) => () => {
    callOff?.()
    callOff = startDeadline(CONNECT_MS, {
      onMissed: () => {
        redis.emit('error', new Error(`${what} within ${CONNECT_MS} ms`))
        redis.disconnect(true)
      },
    })
  }
  redis.on('connecting', begin('no connection'))
  redis.on('connect', begin('no answer'))
  for (const over of ['ready', 'close', 'end']) redis.on(over, () => callOff?.())
}
