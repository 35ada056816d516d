import { isIPv6 } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { GatewayError } from '../errors.ts'

export interface ThrottleOptions {
  /** How long a failure counts; default 30,000 ms from the first one. */
  readonly windowMs?: number
  /** Failures of one user from one address before 429; default 5. The user gets in from any other address. */
  readonly perUserAndAddress?: number
  /** Failures of one address, whatever the user, before 429; default 50. Behind a proxy whose forwarded address is not trusted, all callers share one. */
  readonly perAddress?: number
  /** Failures of one user from all addresses before every attempt has to wait; default 20. It never refuses: it would lock the real user out. */
  readonly slowUserAfter?: number
  /** That wait; default 1,000 ms. */
  readonly slowMs?: number
  /** Attempts that may wait at once; default 256. Over it: 429 with Retry-After 1. */
  readonly maxWaiting?: number
  /** Users, addresses and pairs counted, each; default 10,000, the oldest is forgotten first. */
  readonly maxCounted?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  readonly delay?: (ms: number) => Promise<unknown>
}

export interface Attempt {
  readonly user: string
  readonly address: string
}

export interface Throttle {
  /** Runs `verify` unless there were too many failures (GatewayError GW_THROTTLED). Null from it is one more failure. */
  readonly attempt: <T>(who: Attempt, verify: () => Promise<T | null>) => Promise<T | null>
}

/** Counts failed proofs of identity, so that guessing is slow here and the engine's own lockout never hits a real user. */
export function createThrottle(options: ThrottleOptions = {}): Throttle {
  const { windowMs = 30_000, maxCounted = 10_000, now = () => performance.now() } = options
  const { perUserAndAddress = 5, perAddress = 50, slowUserAfter = 20 } = options
  const counter = () => createCounter({ windowMs, maxCounted, now })
  const pairs = counter()
  const addresses = counter()
  const users = counter()
  const underway = createUnderway()
  const slowDown = createSlowDown(options)

  /** Attempts under way count as failures of the pair: else a burst of guesses would all pass before the first one fails. */
  function refuseTooMany(pair: string, address: string): void {
    const failed = pairs.read(pair)
    if (failed.count >= perUserAndAddress) throw throttled(failed.resetMs)
    if (failed.count + underway.of(pair) >= perUserAndAddress) throw throttled(1_000)
    const fromAddress = addresses.read(address)
    if (fromAddress.count >= perAddress) throw throttled(fromAddress.resetMs)
  }

  return {
    attempt: async (who, verify) => {
      const address = networkOf(who.address)
      const pair = `${address} ${who.user}`
      refuseTooMany(pair, address)
      underway.enter(pair)
      try {
        if (users.read(who.user).count >= slowUserAfter) await slowDown()
        const result = await verify()
        if (result === null)
          for (const [counts, key] of [
            [pairs, pair],
            [addresses, address],
            [users, who.user],
          ] as const)
            counts.add(key)
        return result
      } finally {
        underway.leave(pair)
      }
    },
  }
}

export function throttled(afterMs: number): GatewayError {
  return new GatewayError('GW_THROTTLED', { retryAfterSeconds: Math.max(1, Math.ceil(afterMs / 1_000)) })
}

/** Failures per key in a window that opens with the first one. */
function createCounter({
  windowMs,
  maxCounted,
  now,
}: Required<Pick<ThrottleOptions, 'windowMs' | 'maxCounted' | 'now'>>) {
  const windows = new Map<string, { count: number; readonly until: number }>()

  function open(key: string) {
    const window = windows.get(key)
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
      const [oldest] = windows.keys()
      if (windows.size > maxCounted && oldest !== undefined) windows.delete(oldest)
    },
  }
}

/** How many attempts of each key are under way. */
export function createUnderway() {
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

/** One subscriber is one address: an IPv6 client owns a /64, and may guess from each of its 2^64 addresses. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address.replace(/^::ffff:/i, '')
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
