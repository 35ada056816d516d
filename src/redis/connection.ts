import { Redis } from 'ioredis'
import { startDeadline } from './deadline.ts'

/** For the connection, and again for the handshake before the first command. */
const CONNECT_MS = 1000

/**
 * Opens a connection that queues nothing: a command is sent at once, or it fails. ioredis's defaults queue a command for
 * seconds while the server is unreachable. Its own timers are not used: they discard answers that arrived while this
 * process was busy. So each command needs `answerWithin`.
 */
export function openRedis(url: string): Redis {
  const redis = new Redis(url, {
    connectTimeout: 0,
    // How long an abandoned connection may take to close; its commands fail then at the latest.
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

/** The answer of Redis. @throws Error if it does not arrive in time */
export function answerWithin<T>(ms: number, redis: Redis, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = startDeadline(ms, {
      // A stream that is not connected yet has no count.
      progress: () => (redis.status === 'ready' ? redis.stream.bytesRead : 0),
      onMissed: () => reject(new Error('Command timed out')),
    })
    answer.finally(cancel).then(resolve, reject)
  })
}

function watchConnecting(redis: Redis): void {
  let cancel: (() => void) | null = null
  const start = (what: string) => () => {
    cancel?.()
    cancel = startDeadline(CONNECT_MS, {
      onMissed: () => {
        redis.emit('error', new Error(`${what} within ${CONNECT_MS} ms`))
        redis.disconnect(true)
      },
    })
  }
  redis.on('connecting', start('no connection'))
  redis.on('connect', start('no answer'))
  for (const event of ['ready', 'close', 'end']) redis.on(event, () => cancel?.())
}
