import { ReplyError } from 'ioredis'
import type { RedisSettings } from '../config/redis-types.ts'
import { Breaker } from './breaker.ts'
import { answerWithin } from './connection.ts'
import { openClient, type RedisClient, type RedisCommand, type RedisReply } from './redis-client.ts'

/** Logs a change of state, once per change. `why` never contains a credential. */
export type RedisLog = (level: 'info' | 'warn', message: string, why: string | null) => void

/** The options of everything that gateways share in Redis. */
export interface SharedStateOptions {
  readonly redis: RedisSettings
  /** Separates deployments that share a Redis and have engines of the same name. */
  readonly namespace: string
  /** Monotonic milliseconds, as `performance.now`. */
  readonly now: () => number
}

interface LinkOptions extends Omit<SharedStateOptions, 'namespace'> {
  /** The prefix of the keys of this link. */
  readonly prefix: string
  /** Default: nothing is logged, because the link of the cache logs the state, and all links connect to the same server. */
  readonly log?: RedisLog
  /** Called when the connection is established, for the first time or again. */
  readonly onReady?: () => void
  /** Called when no connection could be established, or the connection is lost. */
  readonly onAway?: () => void
}

/** Timeout of a command. It is checked after pending data has been read. */
const COMMAND_MS = 150
const PAUSE_MS = 1000
/** Error replies that do not indicate a problem of the server's health: its memory is full, or the key has another type. */
const HARMLESS: ReadonlySet<string> = new Set(['OOM', 'WRONGTYPE'])
/** Error replies of a server that does not accept writes. After a failover, another server accepts them. */
const DECISIVE: ReadonlySet<string> = new Set(['READONLY', 'NOREPLICAS', 'CLUSTERDOWN'])

/** Sends commands to Redis, or reports at once that it cannot. */
export class RedisLink {
  readonly #client: RedisClient
  readonly #breaker: Breaker
  readonly #log: RedisLog | undefined
  #up: boolean | null = null
  #reason: string | null = null
  #probe: NodeJS.Timeout | null = null

  constructor({ redis, prefix, now, log, onReady, onAway }: LinkOptions) {
    this.#log = log
    this.#breaker = new Breaker({ threshold: 3, pauseMs: PAUSE_MS, now })
    this.#client = openClient(redis, {
      onError: (error) => (this.#reason = reasonOf(error)),
      onClose: () => {
        if (this.#probe !== null) clearTimeout(this.#probe)
        this.#setUp(false)
        onAway?.()
      },
      onReady: () => {
        if (this.#breaker.closed) this.#setUp(true)
        // Without this command, an idle process would not notice the recovery. In a cluster, the server that has the keys must respond.
        else this.#probe = setTimeout(() => void this.run([['exists', prefix]]), PAUSE_MS).unref()
        onReady?.()
      },
    })
  }

  /** Null if Redis was not reached yet. */
  get isUp(): boolean | null {
    return this.#up
  }

  /**
   * Sends commands. They are skipped while Redis is unreachable or the breaker is open; `pressing` commands are sent even if it
   * is open.
   */
  async run(
    commands: readonly RedisCommand[],
    pressing = false,
  ): Promise<readonly RedisReply[] | 'skipped' | 'error'> {
    if (!this.#client.isReady() || !(pressing || this.#breaker.admits())) return 'skipped'
    const replies = await this.#repliesTo(commands)
    const failure = failureIn(replies)
    if (failure === null) {
      this.#breaker.succeeded()
      this.#setUp(true)
      return replies
    }
    this.#failed(failure, pressing)
    return 'error'
  }

  /** Returns a failure instead of the replies if Redis does not respond in time. */
  #repliesTo(commands: readonly RedisCommand[]): Promise<readonly RedisReply[]> {
    const { bytesRead, send } = this.#client
    return answerWithin(COMMAND_MS, bytesRead, send(commands)).catch((error: unknown) => [
      [error instanceof Error ? error : new Error(String(error)), null] as const,
    ])
  }

  /** Returns the section `memory` of the command INFO of each server. Null if this is not possible now, or not permitted. */
  async memoryReports(): Promise<readonly string[] | null> {
    if (!this.#client.isReady()) return null
    const { bytesRead, memoryReports } = this.#client
    return answerWithin(COMMAND_MS, bytesRead, memoryReports()).catch(() => null)
  }

  close(): void {
    if (this.#probe !== null) clearTimeout(this.#probe)
    this.#client.close()
  }

  #failed(failure: Error, pressing: boolean): void {
    const code = replyCodeOf(failure)
    const isDecisive = code === '' || DECISIVE.has(code)
    const opened = this.#breaker.failed(isDecisive)
    // A failed trial counts too: in a cluster, one server of several may be silent, and nothing else would look for its
    // successor.
    if (!opened && !pressing && !(isDecisive && this.#client.isReady())) return
    this.#reason = reasonOf(failure)
    this.#setUp(false)
    // Fails all commands that wait for a silent server, and finds the new primary after a failover.
    this.#client.reconnect()
  }

  #setUp(up: boolean): void {
    if (this.#up === up) return
    this.#up = up
    if (up) this.#log?.('info', 'Redis responds; the shared cache is in use', null)
    else this.#log?.('warn', 'Redis does not respond; each process uses only its own cache', this.#reason)
  }
}

function failureIn(replies: readonly RedisReply[]): Error | null {
  return replies.find(([error]) => error !== null && !HARMLESS.has(replyCodeOf(error)))?.[0] ?? null
}

/** Returns the first word of an error reply of the server (`READONLY`, `OOM` …), or `''` if the server sent no reply. */
export function replyCodeOf(error: Error): string {
  return error instanceof ReplyError ? (error.message.split(' ', 1)[0] ?? '') : ''
}

/** Returns the message only: ioredis attaches the command to the error, and for AUTH that contains the password. */
export function reasonOf(error: Error & { code?: string }): string {
  return error.message === '' ? (error.code ?? error.name) : error.message
}
