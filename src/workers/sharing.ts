import type { Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import { createTurnover } from './turnover.ts'
import { countsIn } from './worker-messages.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Lets the workers accept connections from the socket of the primary, for as long as many connections begin and end. */
export interface Sharing<Worker extends SharingWorker> {
  /** Records the connection counts that a worker has sent. Begins or ends the sharing if these counts require it. */
  readonly note: (worker: Worker, answer: unknown) => void
  /** Makes the primary the only process that accepts connections. Called before the set of workers changes, and when a worker drains. */
  readonly end: () => void
}

export type SharingWorker = Pick<WorkerProcess, 'accept' | 'countConnections' | 'stopAccepting'>

export interface SharingOptions<Worker> {
  readonly workers: ReadonlySet<Worker>
  /** The server with which the primary accepts. */
  readonly server: () => Server
  /** Makes the primary accept again, from a copy of the socket. */
  readonly resume: (copy: SocketCopy) => void
  readonly log: Pick<Logger, 'debug'>
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
}

/** A copy of the listening socket. While the primary has it, the connections that wait are not lost if all workers exit. */
export interface SocketCopy {
  readonly close: () => void
}

/** The primary hands over a few thousand connections a second. Below this rate of connections that end, it needs little time. */
const BEGIN_PER_SECOND = 300
const END_PER_SECOND = 100
/** Consecutive windows with this rate. Clients that all reconnect once, with connections that stay open, end within one window. */
const BEGIN_WINDOWS = 3
/**
 * The primary accepts if one worker has more open connections than this multiple of an even share plus this margin. Otherwise a worker
 * that is always the first to accept could get nearly all connections that stay open.
 */
const UNEVEN_FACTOR = 1.5
const UNEVEN_MARGIN = 64
/** How often the workers are asked for their counts while they accept connections themselves. */
const COUNT_EVERY_MS = 250
/** How long the primary waits for all workers. It accepts connections until then, too. */
const CONFIRM_MS = 1000

interface SharingPeriod {
  copy: SocketCopy | null
  /** Set if the primary does not accept. */
  counting: NodeJS.Timeout | undefined
}

export function createSharing<Worker extends SharingWorker>({
  workers,
  server,
  resume,
  log,
  now = () => performance.now(),
}: SharingOptions<Worker>): Sharing<Worker> {
  const turnover = createTurnover<Worker>(now)
  const open = new WeakMap<Worker, number>()
  /** Null if only the primary accepts. */
  let period: SharingPeriod | null = null
  let windows = 0

  async function begin(): Promise<void> {
    const begun: SharingPeriod = { copy: null, counting: undefined }
    period = begun
    const answers = [...workers].map((worker) =>
      worker.accept(server()).then(
        (copy) => onCopy(begun, copy),
        () => undefined,
      ),
    )
    // A socket that waits in the channel to a worker can only be sent while it is open here.
    await Promise.race([Promise.all(answers), wait(CONFIRM_MS, undefined, { ref: false })])
    if (period !== begun) return
    if (begun.copy === null) {
      end()
      return
    }
    begun.counting = setInterval(count, COUNT_EVERY_MS).unref()
    server().close()
    log.debug('workers accept connections themselves')
  }

  function onCopy(begun: SharingPeriod, copy: unknown): void {
    if (!isSocketCopy(copy)) return
    if (period === begun && begun.copy === null) begun.copy = copy
    else copy.close()
  }

  function count(): void {
    for (const worker of workers)
      worker.countConnections().then(
        (answer) => note(worker, answer),
        () => undefined,
      )
  }

  function note(worker: Worker, answer: unknown): void {
    const counts = countsIn(answer)
    if (counts === null) return
    open.set(worker, counts.open)
    const rate = turnover.note(worker, counts.ended)
    if (rate === null) return
    const isEven = isDistributed()
    windows = rate >= BEGIN_PER_SECOND && isEven ? windows + 1 : 0
    if (period === null && windows >= BEGIN_WINDOWS) void begin()
    else if (period?.counting !== undefined && (rate < END_PER_SECOND || !isEven)) end()
  }

  /** Returns whether no worker has many more open connections than an even share. */
  function isDistributed(): boolean {
    const counts = [...workers].map((worker) => open.get(worker) ?? 0)
    const share = counts.reduce((sum, one) => sum + one, 0) / counts.length
    return Math.max(...counts) <= UNEVEN_FACTOR * share + UNEVEN_MARGIN
  }

  function end(): void {
    if (period === null) return
    const { copy, counting } = period
    period = null
    windows = 0
    if (counting === undefined) {
      copy?.close()
    } else if (copy !== null) {
      clearInterval(counting)
      resume(copy)
      log.debug('the primary accepts connections')
    }
    for (const worker of workers) worker.stopAccepting().catch(() => undefined)
  }

  return { note, end }
}

function isSocketCopy(value: unknown): value is SocketCopy {
  return typeof value === 'object' && value !== null && 'close' in value && typeof value.close === 'function'
}
