import { isIPv6 } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { throttled } from './throttled.ts'
import {
  createAttemptPacer,
  type AttemptOrigin,
  type AttemptPacer,
  type AttemptPacerOptions,
} from './attempt-pacer.ts'

/** The interval between queued attempts of a pair, which is five guesses per second. */
const PAIR_TURN_MS = 200
/** The wait of an attempt of a user with many failures. */
const SLOW_MS = 1_000

export interface ThrottleOptions extends Pick<AttemptPacerOptions, 'schedule'> {
  /** How long failures count, from the first one. Default: 30,000 ms. */
  readonly windowMs?: number
  /** The number of failures of one user from one address after which further attempts of this pair are queued. Default: 5. */
  readonly perUserAndAddress?: number
  /**
   * Whether such attempts are refused with 429 instead. Default: false. It is for a source that itself locks users after failures.
   * The user can still log in from any other address.
   */
  readonly refusesPairs?: boolean
  /** The number of failures of one address, for any user, after which all attempts from it are queued. Default: 50. */
  readonly perAddress?: number
  /** The interval between queued attempts of an address. Default: 50 ms, which is twenty guesses per second. */
  readonly addressTurnMs?: number
  /**
   * The shortest delay of a failure while attempts are queued. It applies to a wrong credential and to an attempt that the queue
   * refused. Default: 1,000 ms.
   */
  readonly holdMs?: number
  /**
   * Returns the part of `holdMs` that is added to the delay, from 0 to 1. Default: Math.random. Without it, clients that are delayed
   * at the same time would retry at the same time.
   */
  readonly spread?: () => number
  /** The number of failures that are delayed at the same time. Default: 256. Further failures are not delayed. */
  readonly maxHeld?: number
  /**
   * The number of failures of one user from all addresses after which every attempt has to wait. Default: 20. Attempts are not
   * refused because of these failures, because this would lock out the real user.
   */
  readonly slowUserAfter?: number
  /** The number of attempts that may wait at the same time. Default: 256. Further attempts get 429 with Retry-After 1. */
  readonly maxWaiting?: number
  /** The limit for counted users, for addresses and for pairs. Default: 10,000 each. The oldest entry is removed first. */
  readonly maxCounted?: number
  /** The monotonic clock, in milliseconds. Default: performance.now. */
  readonly now?: () => number
  readonly delay?: (ms: number) => Promise<unknown>
}

export interface Throttle {
  /** Runs `verify`, delayed after many failures. A null result counts as a failure. @throws GatewayError GW_THROTTLED if too many attempts wait */
  readonly attempt: <T>(who: AttemptOrigin, verify: () => Promise<T | null>) => Promise<T | null>
}

/**
 * Creates a throttle that counts failed attempts. Guessing is slow at the gateway, so the engine's own lockout never affects a real
 * user. A correct password is not refused because of failures of other users at the same address: it gives its turn back, and its
 * response is not delayed.
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
  const paceAttempt = createPaceAttempt(options)

  /** Refuses a pair with too many failures. Attempts in flight count as well, because a burst of guesses would pass before the first one fails. */
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
      const turn = paceAttempt(
        { user, address },
        { ofPair: pairs.read(pair).count + inFlight.of(pair), ofAddress: addresses.read(address).count },
      )
      inFlight.enter(pair)
      try {
        const release = turn === null ? null : await heldIfRefused(turn, hold)
        if (users.read(user).count >= slowUserAfter) await slowDown()
        const result = await verify()
        if (result !== null) {
          release?.()
          return result
        }
        pairs.add(pair)
        addresses.add(address)
        users.add(user)
        if (release !== null) await hold()
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

type PaceAttempt = (who: AttemptOrigin, failures: Failures) => ReturnType<AttemptPacer['take']> | null

/** Creates a function that takes a turn in the queue. It returns null if there are too few failures for a queue. */
function createPaceAttempt(options: ThrottleOptions): PaceAttempt {
  const { perUserAndAddress = 5, perAddress = 50, addressTurnMs = 50 } = options
  const pacer = createAttemptPacer(options)
  return (who, { ofPair, ofAddress }) => {
    const spacing = {
      ofUserMs: ofPair >= perUserAndAddress ? PAIR_TURN_MS : 0,
      ofAddressMs: ofAddress >= perAddress ? addressTurnMs : 0,
    }
    return spacing.ofUserMs + spacing.ofAddressMs === 0 ? null : pacer.take(who, spacing)
  }
}

/** Creates a counter of failures for each key, in a window that starts with the first failure. */
function createCounter({
  windowMs,
  maxCounted,
  now,
}: Required<Pick<ThrottleOptions, 'windowMs' | 'maxCounted' | 'now'>>) {
  // The option `max` would allocate all entries at once.
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

/** Creates a counter of attempts in flight for each key. */
export function createInFlight() {
  const counts = new Map<string, number>() // bounded, because the numbers of waiting attempts and of hashes are limited
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

function createSlowDown({ maxWaiting = 256, delay = wait }: ThrottleOptions) {
  let waiting = 0
  return async function slowDown(): Promise<void> {
    if (waiting >= maxWaiting) throw throttled(1_000)
    waiting += 1
    try {
      await delay(SLOW_MS)
    } finally {
      waiting -= 1
    }
  }
}

/** Delays the refusal of a turn. A client that is refused immediately retries immediately, and the refusals alone would occupy the process. */
async function heldIfRefused<T>(turn: Promise<T>, hold: () => Promise<void>): Promise<T> {
  try {
    return await turn
  } catch (error) {
    await hold()
    throw error
  }
}

/** Creates a function that delays a failure. The delay continues to count towards `maxHeld` if the client disconnects earlier. */
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

/** Returns the network of one subscriber, which counts as one address. An IPv6 client has a /64 and could use all its 2^64 addresses for guesses. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address.replace(/^::ffff:/i, '')
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
