import { setTimeout as wait } from 'node:timers/promises'
import { type AskEngine, jsonOf } from '../request/engine-request.ts'
import {
  GAUGE_QUERIES,
  type GaugeQuery,
  type GaugeReading,
  type ReadJson,
  type GaugeSample,
} from './queries.ts'

export interface PollerOptions {
  /** As who the gateway asks on its own behalf; no request is repeated. */
  readonly ask: AskEngine
  readonly reading: GaugeReading
  /** From the beginning of one round to that of the next, in milliseconds. */
  readonly everyMs: number
  /** Whether this process is the one that asks, now. */
  readonly isElected: () => boolean
  /** Monotonic milliseconds, as `performance.now`. */
  readonly now: () => number
  /** Milliseconds since 1970, as `Date.now`. */
  readonly wallNow: () => number
  readonly onAnswer: (query: string) => void
  /** A query that failed; the next ones are asked all the same. */
  readonly onFailure: (query: string, error: unknown) => void
  /** Default: all of them. */
  readonly queries?: readonly GaugeQuery[]
  /** From one request to the next, in milliseconds; default: a little more than a second. */
  readonly spacingMs?: number
}

/** Asks one engine for its gauges, round after round, by at most one request a second. */
export interface Poller {
  readonly start: () => void
  readonly stop: () => void
  readonly isElected: () => boolean
  /** The last numbers; none while another process is elected, and none that are older than three rounds. */
  readonly samples: () => readonly GaugeSample[]
  /** When the last round ended of which every query was answered, in seconds since 1970; null: none yet. */
  readonly lastReadSeconds: () => number | null
}

/** Timers have a granularity of a millisecond, and clocks differ: one second at the engine is never two requests. */
const SPACING_MS = 1050
const ROUNDS_KEPT = 3

/** Another process is elected now, or the gateway ends. */
class Ended extends Error {}

export function createPoller(options: PollerOptions): Poller {
  const { ask, reading, everyMs, isElected, now, wallNow, onAnswer, onFailure } = options
  const { queries = GAUGE_QUERIES, spacingMs = SPACING_MS } = options
  const read = new Map<string, { readonly samples: readonly GaugeSample[]; readonly atMs: number }>()
  const stopped = new AbortController()
  let lastReadSeconds: number | null = null
  let keepMs = ROUNDS_KEPT * everyMs
  let freeAtMs = 0

  const pause = (ms: number): Promise<void> =>
    wait(Math.max(0, Math.ceil(ms)), undefined, { ref: false, signal: stopped.signal }).catch(() => {
      throw new Ended()
    })

  const readJson: ReadJson = async (path) => {
    await pause(freeAtMs - now())
    if (!isElected()) throw new Ended()
    freeAtMs = now() + spacingMs
    // A GET that is repeated would be a second request within the second.
    const answer = await ask({ method: 'GET', path, isRead: false, limitBytes: MAX_BYTES })
    return answer.status === 400 ? null : jsonOf(answer, `the gauges' ${path}`)
  }

  async function readRound(): Promise<void> {
    const beganMs = now()
    let failures = 0
    for (const { name, read: readQuery } of queries) {
      try {
        read.set(name, { samples: await readQuery(readJson, reading), atMs: now() })
        onAnswer(name)
      } catch (error) {
        if (error instanceof Ended) throw error
        failures += 1
        onFailure(name, error)
      }
    }
    if (failures === 0) lastReadSeconds = wallNow() / 1000
    const tookMs = now() - beganMs
    keepMs = ROUNDS_KEPT * Math.max(everyMs, tookMs)
    await pause(everyMs - tookMs)
  }

  async function readWhileElected(): Promise<void> {
    // Who was elected before may have asked a moment ago.
    freeAtMs = now() + spacingMs
    try {
      for (;;) await readRound()
    } catch (error) {
      if (!(error instanceof Ended)) throw error
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
        if (!(error instanceof Ended)) throw error
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

/** The statistics of ten thousand definitions. */
const MAX_BYTES = 16 * 1024 ** 2
/** How often it is looked whether this process has been elected. */
const LOOK_MS = 500
