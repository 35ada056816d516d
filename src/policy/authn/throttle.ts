import { isIPv6 } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { throttled } from './throttled.ts'
import { createTurns, type Turns, type TurnsOptions } from './turns.ts'

export interface ThrottleOptions extends Pick<TurnsOptions, 'schedule'> {
  /** How long a failure counts; default 30,000 ms from the first one. */
  readonly windowMs?: number
  /** Failures of one user from one address before further attempts of this pair are queued; default 5. */
  readonly perUserAndAddress?: number
  /** Refuses such attempts with 429 instead; default false. For a source that itself locks users who fail. The user can log in from any other address. */
  readonly refusesPairs?: boolean
  /** Failures of one address, for any user, before all attempts from it are queued; default 50. */
  readonly perAddress?: number
  /** Interval between queued attempts of a pair; default 200 ms: five guesses a second. */
  readonly pairTurnMs?: number
  /** Interval between queued attempts of an address; default 50 ms: twenty guesses a second. */
  readonly addressTurnMs?: number
  /** How long the answer to a wrong credential, or to one that found no place in the queue, is delayed at least while attempts are queued; default 1,000 ms. */
  readonly holdMs?: number
  /** What part of `holdMs` comes on top, from 0 to 1; default Math.random. Without it, those who are held together come again together. */
  readonly spread?: () => number
  /** Answers delayed at the same time; default 256. Beyond it they are not delayed. */
  readonly maxHeld?: number
  /** Failures of one user from all addresses before every attempt has to wait; default 20. It never refuses: that would lock out the real user. */
  readonly slowUserAfter?: number
  /** That wait; default 1,000 ms. */
  readonly slowMs?: number
  /** Attempts that may wait at the same time; default 256. Beyond it: 429 with Retry-After 1. */
  readonly maxWaiting?: number
  /** Limit of counted users, addresses and pairs, each; default 10,000, the oldest is removed first. */
  readonly maxCounted?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  readonly delay?: (ms: number) => Promise<unknown>
}

export interface ThrottleAttempt {
  readonly user: string
  readonly address: string
}

export interface Throttle {
  /** Runs `verify`, delayed after many failures. A null result counts as one more. @throws GatewayError GW_THROTTLED if too many wait */
  readonly attempt: <T>(who: ThrottleAttempt, verify: () => Promise<T | null>) => Promise<T | null>
}

/**
 * Counts failed attempts, so that guessing is slow here and the engine's own lockout never hits a real user. A correct
 * password is not refused for failures of others at the same address: it does not use up its slot, and its answer is not
 * delayed.
 */
export function createThrottle(options: ThrottleOptions = {}): Throttle {
  const { windowMs = 30_000, maxCounted = 10_000, now = () => performance.now() } = options
  const { slowUserAfter = 20, perUserAndAddress = 5, refusesPairs = false } = options
  const counter = () => createCounter({ windowMs, maxCounted, now })
  const pairs = counter()
  const addresses = counter()
  const users = counter()
  const inFlight = createInFlight()
  const slowDown = createSlowDown(options)
  const hold = createHold(options)
  const takeTurn = createTakeTurn(options)

  /** Attempts in flight count as failures of the pair. Otherwise a burst of guesses would pass before the first one fails. */
  function refuseTooMany(pair: string): void {
    const failed = pairs.read(pair)
    if (failed.count >= perUserAndAddress) throw throttled(failed.resetMs)
    if (failed.count + inFlight.of(pair) >= perUserAndAddress) throw throttled(1_000)
  }

  return {
    attempt: async ({ user, address: from }, verify) => {
      const address = networkOf(from)
      const pair = `${address} ${user}`
      if (refusesPairs) refuseTooMany(pair)
      const turn = takeTurn(
        { user, address },
        { ofPair: pairs.read(pair).count + inFlight.of(pair), ofAddress: addresses.read(address).count },
      )
      inFlight.enter(pair)
      try {
        const giveBack = turn === null ? null : await heldIfRefused(turn, hold)
        if (users.read(user).count >= slowUserAfter) await slowDown()
        const result = await verify()
        if (result !== null) {
          giveBack?.()
          return result
        }
        pairs.add(pair)
        addresses.add(address)
        users.add(user)
        if (giveBack !== null) await hold()
        return null
      } finally {
        inFlight.leave(pair)
      }
    },
  }
}

interface Failures {
  readonly ofPair: number
  readonly ofAddress: number
}

type TakeTurn = (who: ThrottleAttempt, failures: Failures) => ReturnType<Turns['take']> | null

/** Null: too few failures to queue. */
function createTakeTurn(options: ThrottleOptions): TakeTurn {
  const { perUserAndAddress = 5, perAddress = 50, pairTurnMs = 200, addressTurnMs = 50 } = options
  const turns = createTurns(options)
  return (who, { ofPair, ofAddress }) => {
    const spacing = {
      ofUserMs: ofPair >= perUserAndAddress ? pairTurnMs : 0,
      ofAddressMs: ofAddress >= perAddress ? addressTurnMs : 0,
    }
    return spacing.ofUserMs + spacing.ofAddressMs === 0 ? null : turns.take(who, spacing)
  }
}

/** Failures per key in a window that starts with the first one. */
function createCounter({
  windowMs,
  maxCounted,
  now,
}: Required<Pick<ThrottleOptions, 'windowMs' | 'maxCounted' | 'now'>>) {
  // `max` would take room for all of them at once.
  const windows = new LRUCache<string, { count: number; readonly until: number }>({
    maxSize: maxCounted,
    sizeCalculation: () => 1,
  })

  function open(key: string) {
    const window = windows.peek(key)
    if (window === undefined || now() < window.until) return window
    windows.delete(key)
    return undefined
  }

  return {
    read: (key: string) => {
      const window = open(key)
      return { count: window?.count ?? 0, resetMs: window === undefined ? 0 : window.until - now() }
    },
    add: (key: string) => {
      const window = open(key)
      if (window !== undefined) {
        window.count += 1
        return
      }
      windows.set(key, { count: 1, until: now() + windowMs })
    },
  }
}

/** Attempts in flight per key. */
export function createInFlight() {
  const counts = new Map<string, number>() // bounded: each holds a place among the waiting or the hashes
  return {
    of: (key: string) => counts.get(key) ?? 0,
    enter: (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1),
    leave: (key: string) => {
      const left = (counts.get(key) ?? 0) - 1
      if (left > 0) counts.set(key, left)
      else counts.delete(key)
    },
  }
}

function createSlowDown({ slowMs = 1_000, maxWaiting = 256, delay = wait }: ThrottleOptions) {
  let waiting = 0
  return async function slowDown(): Promise<void> {
    if (waiting >= maxWaiting) throw throttled(1_000)
    waiting += 1
    try {
      await delay(slowMs)
    } finally {
      waiting -= 1
    }
  }
}

/** Who is answered at once comes again at once: refusals alone would keep the process busy. */
async function heldIfRefused<T>(turn: Promise<T>, hold: () => Promise<void>): Promise<T> {
  try {
    return await turn
  } catch (error) {
    await hold()
    throw error
  }
}

/** Delays the answer to a wrong credential; the slot stays occupied if the client disconnects earlier. */
function createHold({ holdMs = 1_000, maxHeld = 256, spread = Math.random, delay = wait }: ThrottleOptions) {
  let delayed = 0
  return async function hold(): Promise<void> {
    if (delayed >= maxHeld) return
    delayed += 1
    try {
      await delay(holdMs * (1 + spread()))
    } finally {
      delayed -= 1
    }
  }
}

/** One subscriber counts as one address: an IPv6 client has a /64, and could guess from each of its 2^64 addresses. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address.replace(/^::ffff:/i, '')
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
