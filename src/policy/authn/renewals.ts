import { GatewayError } from '../../errors.ts'
import { type Schedule, scheduleTimer } from '../../files/source-state.ts'

/** Whether a renewal of one remembered entry runs, and when the next one may begin. */
export interface RenewalState {
  isRunning: boolean
  notBeforeMs: number
}

/**
 * The outcome of a renewal. `refused`: the credential is no longer correct. `failed`: the source of users did not respond, or responded
 * with an error, or the renewal was not permitted now.
 */
export type RenewalResult = 'renewed' | 'refused' | 'failed'

export interface RenewalsOptions {
  /** The maximum age of an entry that is used because the source does not respond. Default: 0, no entry is used for longer. */
  readonly lastGoodMs?: number
  /** The monotonic clock, in milliseconds. Default: performance.now. */
  readonly now?: (() => number) | undefined
  readonly schedule?: Schedule
  /** Called at the end of each renewal in the background. */
  readonly onResult?: (result: RenewalResult) => void
}

/** The renewals of the credentials and tokens that depend on one source of users. */
export interface Renewals {
  /** Runs a renewal of the entry in the background, unless one runs, one failed just now, or too many run. */
  readonly begin: (entry: RenewalState, renew: () => Promise<Exclude<RenewalResult, 'failed'>>) => void
  /**
   * Returns true if an entry whose time is over may still be used: its renewal began in time and has no result yet, or the source has
   * left a verification without a response a short time ago.
   */
  readonly isUsable: (entry: RenewalState, ageMs: number) => boolean
  /**
   * Resolves to the result of a verification for which a request waits. If the source does not respond, resolves to the result of
   * `lastGood`, unless that is null.
   */
  readonly orLastGood: <T>(
    entry: RenewalState,
    verification: Promise<T>,
    lastGood: () => T | null,
  ) => Promise<T>
}

/** Returns the state of an entry without a renewal. */
export function createRenewalState(): RenewalState {
  return { isRunning: false, notBeforeMs: 0 }
}

/** The time between a renewal that failed and the next one of the same entry. */
const RETRY_MS = 1_000
/** The time after which a verification counts as one without a response. Slow engines need 800 ms. */
const OVERDUE_MS = 3_000
/** How long entries are used without waiting after a verification without a response. */
const UNANSWERED_MS = 5_000
/** The number of renewals at a time. A quarter of the requests that the gateway sends to a node at first, because an engine may hang. */
const MAX_RUNNING = 16

/** Creates the renewals for one source of users. */
export function createRenewals(options: RenewalsOptions = {}): Renewals {
  const { lastGoodMs = 0, now = () => performance.now(), schedule = scheduleTimer } = options
  let running = 0
  let overdue = 0
  let unansweredUntilMs = Number.NEGATIVE_INFINITY

  /** Observes whether the source responds to a verification. Calls `onOverdue` if it takes too long. */
  async function observe(verification: Promise<unknown>, onOverdue: () => void): Promise<void> {
    let isOverdue = false
    const cancel = schedule(() => {
      isOverdue = true
      overdue += 1
      onOverdue()
    }, OVERDUE_MS)
    try {
      await verification
      unansweredUntilMs = Number.NEGATIVE_INFINITY
    } catch (error) {
      if (isUnanswered(error)) unansweredUntilMs = now() + UNANSWERED_MS
    } finally {
      cancel()
      if (isOverdue) overdue -= 1
    }
  }

  async function run(entry: RenewalState, renewal: Promise<RenewalResult>): Promise<void> {
    entry.isRunning = true
    running += 1
    try {
      await observe(renewal, () => undefined)
      options.onResult?.(await renewal)
    } catch {
      // The state of the source shows the reason.
      entry.notBeforeMs = now() + RETRY_MS
      options.onResult?.('failed')
    } finally {
      running -= 1
      entry.isRunning = false
    }
  }

  return {
    begin: (entry, renew) => {
      if (entry.isRunning || running >= MAX_RUNNING || now() < entry.notBeforeMs) return
      void run(entry, renew())
    },
    isUsable: (entry, ageMs) =>
      ageMs < lastGoodMs && (entry.isRunning || overdue > 0 || now() < unansweredUntilMs),
    orLastGood: (entry, verification, lastGood) =>
      new Promise((resolve, reject) => {
        let isOverdue = false
        const observed = observe(verification, () => {
          const last = lastGood()
          if (last === null) return
          // No other verification of this entry begins until this one has a result.
          isOverdue = true
          entry.isRunning = true
          resolve(last)
        })
        void observed.then(async () => {
          if (isOverdue) entry.isRunning = false
          try {
            resolve(await verification)
          } catch (error) {
            const last = isUnanswered(error) ? lastGood() : null
            if (last === null) reject(error)
            else resolve(last)
          }
        })
      }),
  }
}

/** Returns true for an error that says nothing about the credential: the source, or the way to it, does not work. */
function isUnanswered(error: unknown): boolean {
  return error instanceof GatewayError && error.statusCode >= 500 && error.code !== 'GW_INTERNAL'
}
