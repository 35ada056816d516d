import type { Logger } from '../log.ts'
import { keepTicksQuick } from '../server/ticks.ts'

const areTicksKept = keepTicksQuick()

interface DrainTarget {
  /** Resolves at the deadline at the latest. */
  readonly drain: () => Promise<'failed' | void>
}

interface ReloadTarget {
  readonly reload: () => Promise<unknown>
}

/** Runs until a signal, and reloads at SIGHUP. Resolves with the exit code after the drain. */
export function runUntilSignal({ drain, reload }: DrainTarget & ReloadTarget, log: Logger): Promise<number> {
  process.on('SIGHUP', () => void reload())
  return runUntil(signalled(), { drain }, log)
}

/**
 * Runs a worker until a signal or until the primary requests a drain. Only the primary reloads the configuration, although a
 * SIGHUP to the whole process group reaches the worker too.
 */
export function runUntilSignalOr(
  drainRequested: Promise<void>,
  draining: DrainTarget,
  log: Logger,
): Promise<number> {
  process.on('SIGHUP', () => undefined)
  return runUntil(Promise.race([drainRequested, signalled()]), draining, log)
}

/** Drains when `drainRequested` resolves or at an uncaught error. The exit code is 1 after an uncaught error or a drain that failed, otherwise 0. */
async function runUntil(drainRequested: Promise<void>, { drain }: DrainTarget, log: Logger): Promise<number> {
  void areTicksKept.then((areKept) => {
    if (!areKept)
      log.debug(
        'the objects of process.nextTick are not those of Node 24: no object is kept, and ticks are not faster',
      )
  })
  const unexpected = watchUnexpectedErrors(log)
  await Promise.race([drainRequested, unexpected.first])
  const drained = await drain()
  return drained === 'failed' || unexpected.hasAny() ? 1 : 0
}

/** npm and a terminal send the same signal twice. After this time, a Ctrl-C comes from a user who wants to stop the drain. */
const IMPATIENT_MS = 1000
/** 128 plus the number of SIGINT, as shells report it. */
const INTERRUPTED = 130

/** Resolves at the first signal to end. Later signals do not shorten the drain, except a later Ctrl-C. */
function signalled(): Promise<void> {
  return new Promise<void>((resolve) => {
    let firstAtMs = Infinity
    const end = () => {
      firstAtMs = Math.min(firstAtMs, performance.now())
      resolve()
    }
    process.on('SIGTERM', end).on('SIGINT', () => {
      if (performance.now() - firstAtMs > IMPATIENT_MS) process.exit(INTERRUPTED)
      end()
    })
  })
}

/** Maximum number of logged errors. A defect may occur again with every request of a drain. */
const MOST_UNEXPECTED_LINES = 10

/**
 * Watches for uncaught errors and rejections, which would otherwise end the process at once, together with all requests in
 * flight. The state of the process is unknown after such an error, so it must still end. (close-with-grace is not suitable: at a
 * second such error it exits in the middle of the drain, and its timeout is fixed before the configuration is read.)
 */
function watchUnexpectedErrors(log: Logger) {
  let count = 0
  const first = new Promise<void>((resolve) => {
    // Unhandled rejections arrive here too, because there is no listener for `unhandledRejection`.
    process.on('uncaughtException', (err, origin) => {
      count += 1
      if (count <= MOST_UNEXPECTED_LINES)
        log.fatal({ pid: process.pid, origin, err }, 'uncaught error: the process drains and ends')
      resolve()
    })
  })
  return { first, hasAny: () => count > 0 }
}
