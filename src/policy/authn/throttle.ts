import { isIPv6 } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { throttled } from './throttled.ts'
import { createTurns, type Turns, type TurnsOptions } from './turns.ts'

export interface ThrottleOptions extends Pick<TurnsOptions, 'schedule'> {
  /** How long a failure counts; default 30,000 ms from the first one. */
  readonly windowMs?: number
  /** Failures of one user from one address before further attempts of this pair take turns; default 5. */
  readonly perUserAndAddress?: number
  /** Refuses such attempts with 429 instead; default false. For a source that itself locks users who fail. The user gets in from any other address. */
  readonly refusesPairs?: boolean
  /** Failures of one address, whatever the user, before all attempts from it take turns; default 50. */
  readonly perAddress?: number
  /** From one turn of a pair to the next; default 200 ms: five guesses a second. */
  readonly pairTurnMs?: number
  /** From one turn of an address to the next; default 50 ms: twenty guesses a second. */
  readonly addressTurnMs?: number
  /** How long the answer to a wrong password is held where attempts take turns; default 1,000 ms. */
  readonly holdMs?: number
  /** Answers held at once; default 256. Over it they are not held. */
  readonly maxHeld?: number
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

export interface ThrottleAttempt {
  readonly user: string
  readonly address: string
}

export interface Throttle {
  /** Runs `verify`, later where there were many failures. Null from it is one more. @throws GatewayError GW_THROTTLED where too many wait */
  readonly attempt: <T>(who: ThrottleAttempt, verify: () => Promise<T | null>) => Promise<T | null>
}

/**
 * Counts failed proofs of identity, so that guessing is slow here and the engine's own lockout never hits a real user. Who
 * is right is not refused for what others at the address have got wrong: a right password gives its turn back and is not held.
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

  /** Attempts under way count as failures of the pair: else a burst of guesses would all pass before the first one fails. */
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
        const giveBack = turn === null ? null : await turn
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

/** Null: there were too few failures for turns. */
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

/** Failures per key in a window that opens with the first one. */
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

/** How many attempts of each key are under way. */
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

/** A wrong password costs its sender time; whoever leaves earlier holds the place all the same. */
function createHold({ holdMs = 1_000, maxHeld = 256, delay = wait }: ThrottleOptions) {
  let held = 0
  return async function hold(): Promise<void> {
    if (held >= maxHeld) return
    held += 1
    try {
      await delay(holdMs)
    } finally {
      held -= 1
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
