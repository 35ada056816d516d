import type { Logger } from '../log.ts'
import { keepTicksQuick } from '../server/ticks.ts'

const areTicksKept = keepTicksQuick()

interface Draining {
  /** Resolves at the deadline at the latest. */
  readonly drain: () => Promise<void>
}

interface Reloading {
  readonly reload: () => Promise<unknown>
}

/** Reloads at SIGHUP. Resolves with the exit code, after a drain. */
export function runUntilSignal({ drain, reload }: Draining & Reloading, log: Logger): Promise<number> {
  process.on('SIGHUP', () => void reload())
  return runUntil(signalled(), { drain }, log)
}

/**
 * For a worker, which drains also when the primary says so. To read the configuration anew is the primary's, though a signal
 * to the whole group comes here too.
 */
export function runUntilSignalOr(told: Promise<void>, draining: Draining, log: Logger): Promise<number> {
  process.on('SIGHUP', () => undefined)
  return runUntil(Promise.race([told, signalled()]), draining, log)
}

/** Drains then, or at an error that nobody has caught: the exit code says which. */
async function runUntil(told: Promise<void>, { drain }: Draining, log: Logger): Promise<number> {
  void areTicksKept.then((areKept) => {
    if (!areKept) log.debug('this Node runs ticks on another object: none is kept to keep them quick')
  })
  const unexpected = watchUnexpectedErrors(log)
  await Promise.race([told, unexpected.first])
  await drain()
  return unexpected.hasAny() ? 1 : 0
}

/** npm and a terminal send the same signal twice. A later Ctrl-C is a person who does not want to wait. */
const IMPATIENT_MS = 1000
/** 128 and the number of SIGINT, as shells say it. */
const INTERRUPTED = 130

/** Resolves at the first signal to end. Later ones do not cut the drain short, but for a later Ctrl-C. */
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

/** A defect may strike again with every request of a drain. */
const MOST_UNEXPECTED_LINES = 10

/**
 * Hears of errors that were thrown or rejected and that nobody has caught, which else end the process at once, with all that is
 * under way. What they have left broken nobody knows: the process is to end all the same. (close-with-grace does not do: at a
 * second such error it exits in the middle of the drain, and its time is fixed before the configuration is read.)
 */
function watchUnexpectedErrors(log: Logger) {
  let count = 0
  const first = new Promise<void>((resolve) => {
    // A rejection comes here too, as nobody listens to `unhandledRejection`.
    process.on('uncaughtException', (err, origin) => {
      count += 1
      if (count <= MOST_UNEXPECTED_LINES)
        log.fatal(
          { pid: process.pid, origin, err },
          'nobody has caught this error: the process drains and ends',
        )
      resolve()
    })
  })
  return { first, hasAny: () => count > 0 }
}
