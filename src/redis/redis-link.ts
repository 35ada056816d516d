import { ReplyError } from 'ioredis'
import type { ChainableCommander, Redis } from 'ioredis'
import { Breaker } from './breaker.ts'
import { answerWithin, openRedis } from './connection.ts'

/** Called once per change of state; `why` never holds a credential. */
export type RedisLog = (level: 'info' | 'warn', message: string, why: string | null) => void

export type Reply = readonly [error: Error | null, value: unknown]

interface LinkOptions {
  readonly url: string
  readonly now: () => number
  readonly log: RedisLog
  /** The connection is there, for the first time or again. */
  readonly onReady: () => void
}

/** A command that is not answered by then is given up, once this process has looked at what has come. */
const COMMAND_MS = 150
const PAUSE_MS = 1000
/** Replies that say nothing about the server's health: it is full, or the key holds another type. */
const HARMLESS: ReadonlySet<string> = new Set(['OOM', 'WRONGTYPE'])

/** Sends commands to Redis, or says at once that it cannot. */
export class RedisLink {
  readonly #redis: Redis
  readonly #breaker: Breaker
  readonly #log: RedisLog
  #up: boolean | null = null
  #why: string | null = null
  #probe: NodeJS.Timeout | null = null

  constructor({ url, now, log, onReady }: LinkOptions) {
    this.#log = log
    this.#breaker = new Breaker({ threshold: 3, pauseMs: PAUSE_MS, now })
    this.#redis = openRedis(url)
    this.#redis.on('error', (error) => (this.#why = whyOf(error)))
    this.#redis.on('close', () => {
      if (this.#probe !== null) clearTimeout(this.#probe)
      this.#is(false)
    })
    this.#redis.on('ready', () => {
      if (this.#breaker.closed) this.#is(true)
      // Without it an idle process would not notice that all is well again.
      else this.#probe = setTimeout(() => void this.run((pipeline) => pipeline.ping()), PAUSE_MS).unref()
      onReady()
    })
  }

  /** Skipped while Redis is away or the breaker is open; `pressing` commands go out also while it is open. */
  async run(
    build: (pipeline: ChainableCommander) => ChainableCommander,
    pressing = false,
  ): Promise<readonly Reply[] | 'skipped' | 'error'> {
    if (this.#redis.status !== 'ready' || !(pressing || this.#breaker.admits())) return 'skipped'
    const replies = await this.#repliesTo(build(this.#redis.pipeline()))
    const failure = failureIn(replies)
    if (failure === null) {
      this.#breaker.succeeded()
      this.#is(true)
      return replies
    }
    this.#failed(failure, pressing)
    return 'error'
  }

  /** Each is a failure where Redis has not answered in time. */
  #repliesTo(pipeline: ChainableCommander): Promise<readonly Reply[]> {
    const replies = pipeline.exec().then((given) => given ?? [])
    return answerWithin(COMMAND_MS, this.#redis, replies).catch((error: unknown) => [
      [error instanceof Error ? error : new Error(String(error)), null] as const,
    ])
  }

  close(): void {
    if (this.#probe !== null) clearTimeout(this.#probe)
    this.#redis.removeAllListeners('close')
    this.#redis.disconnect()
  }

  #failed(failure: Error, pressing: boolean): void {
    const code = codeOf(failure)
    const lost = code === ''
    const opened = this.#breaker.failed(lost || code === 'READONLY')
    if (!opened && !pressing) return
    this.#why = whyOf(failure)
    this.#is(false)
    // Ends all that still waits on a server that is silent, and finds the new primary after a failover.
    this.#redis.disconnect(true)
  }

  #is(up: boolean): void {
    if (this.#up === up) return
    this.#up = up
    if (up) this.#log('info', 'Redis answers: the shared cache is in use', null)
    else this.#log('warn', 'Redis does not answer: each process caches alone', this.#why)
  }
}

function failureIn(replies: readonly Reply[]): Error | null {
  return replies.find(([error]) => error !== null && !HARMLESS.has(codeOf(error)))?.[0] ?? null
}

/** The first word of a reply of the server's own (`READONLY`, `OOM` …); `''` when there was no reply. */
export function codeOf(error: Error): string {
  return error instanceof ReplyError ? (error.message.split(' ', 1)[0] ?? '') : ''
}

// The message alone: ioredis hangs the command on the error, which for AUTH is the password.
function whyOf(error: Error & { code?: string }): string {
  return error.message === '' ? (error.code ?? error.name) : error.message
}
