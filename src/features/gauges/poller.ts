import { pathText } from '../../operations/published/declared-names.ts'
import { operatorText } from '../../errors.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { type AskEngine, jsonOf } from '../../request/engine-request.ts'
import {
  GAUGE_QUERIES,
  type GaugeQuery,
  type GaugeReading,
  type ReadJson,
  type GaugeSample,
} from './queries.ts'

export interface PollerOptions {
  /** Sends a request with the gateway's own credentials. Requests are not retried. */
  readonly ask: AskEngine
  readonly reading: GaugeReading
  /** Time from the start of one round to the start of the next, in milliseconds. */
  readonly everyMs: number
  /** Returns whether this process is elected to poll the engine. */
  readonly isElected: () => boolean
  /** Monotonic milliseconds, as `performance.now`. */
  readonly now: () => number
  readonly onResponse: (query: string) => void
  /** Called for a query that failed. The next queries are still sent. */
  readonly onFailure: (query: string, error: unknown) => void
  /** Default: all queries. */
  readonly queries?: readonly GaugeQuery[]
  /** Time from one request to the next, in milliseconds. Default: a little more than a second. */
  readonly spacingMs?: number
}

/** Polls the gauges of one engine in rounds, with at most one request per second. */
export interface Poller {
  readonly start: () => void
  readonly stop: () => void
  readonly isElected: () => boolean
  /**
   * Returns the last numbers. The list is empty while another process is elected. Numbers older than three rounds are left out.
   */
  readonly samples: () => readonly GaugeSample[]
  /**
   * Returns when the last complete round ended, in seconds since 1970. Null if no round was complete yet. A round is complete if
   * every query succeeded.
   */
  readonly lastReadSeconds: () => number | null
}

/**
 * More than a second, because timers have a granularity of a millisecond and clocks differ: the engine never receives two
 * requests in one second.
 */
const SPACING_MS = 1050
const ROUNDS_KEPT = 3

/** Thrown when another process is elected or the gateway shuts down. */
class PollAbortedError extends Error {}

export function createPoller(options: PollerOptions): Poller {
  const { ask, reading, everyMs, isElected, now, onResponse, onFailure } = options
  const { queries = GAUGE_QUERIES, spacingMs = SPACING_MS } = options
  const read = new Map<string, { readonly samples: readonly GaugeSample[]; readonly atMs: number }>()
  const stopped = new AbortController()
  let lastReadSeconds: number | null = null
  let keepMs = ROUNDS_KEPT * everyMs
  let freeAtMs = 0

  const pause = (ms: number): Promise<void> =>
    wait(Math.max(0, Math.ceil(ms)), undefined, { ref: false, signal: stopped.signal }).catch(() => {
      throw new PollAbortedError()
    })

  const readJson: ReadJson = async (path) => {
    await pause(freeAtMs - now())
    if (!isElected()) throw new PollAbortedError()
    freeAtMs = now() + spacingMs
    // A retry of the GET would be a second request within the second.
    const response = await ask({ method: 'GET', path, isRead: false, limitBytes: MAX_BYTES })
    return response.status === 400 ? null : jsonOf(response, operatorText`the gauges' ${pathText(path)}`)
  }

  async function readRound(): Promise<void> {
    const beganMs = now()
    let failures = 0
    for (const { name, read: readQuery } of queries) {
      try {
        read.set(name, { samples: await readQuery(readJson, reading), atMs: now() })
        onResponse(name)
      } catch (error) {
        if (error instanceof PollAbortedError) throw error
        failures += 1
        onFailure(name, error)
      }
    }
    if (failures === 0) lastReadSeconds = reading.wallNow() / 1000
    const tookMs = now() - beganMs
    keepMs = ROUNDS_KEPT * Math.max(everyMs, tookMs)
    await pause(everyMs - tookMs)
  }

  async function readWhileElected(): Promise<void> {
    // The process that was elected before may have sent a request a moment ago.
    freeAtMs = now() + spacingMs
    try {
      for (;;) await readRound()
    } catch (error) {
      if (!(error instanceof PollAbortedError)) throw error
      read.clear()
      lastReadSeconds = null
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      if (isElected()) await readWhileElected()
      await pause(Math.min(spacingMs, LOOK_MS))
    }
  }

  return {
    start: () => {
      run().catch((error: unknown) => {
        if (!(error instanceof PollAbortedError)) throw error
      })
    },
    stop: () => stopped.abort(),
    isElected,
    samples: () => {
      if (!isElected()) return []
      const leastMs = now() - keepMs
      return [...read.values()].flatMap(({ samples, atMs }) => (atMs >= leastMs ? samples : []))
    },
    lastReadSeconds: () => (isElected() ? lastReadSeconds : null),
  }
}

/** Enough for the statistics of ten thousand definitions. */
const MAX_BYTES = 16 * 1024 ** 2
/** How often to check whether this process has been elected. */
const LOOK_MS = 500
