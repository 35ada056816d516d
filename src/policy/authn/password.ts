import argon2 from '@node-rs/argon2'
import bcrypt from 'bcrypt'
import { GatewayError } from '../../errors.ts'

export interface PasswordOptions {
  /** Hashes computed at the same time; default 4. They occupy libuv threads (4 unless UV_THREADPOOL_SIZE says otherwise), which DNS and file reads need too. */
  readonly concurrency?: number
  /** Hashes that wait for a free thread; default 256. Beyond it: 503 GW_OVERLOADED, Retry-After 1. */
  readonly maxQueued?: number
}

/** The attempt for which a hash is computed. */
export interface HashClaim {
  /** The origin of the attempt: attempts of one origin wait for each other, not for those of other origins. */
  readonly from: string
  /** The credential was correct before: it has precedence over all guesses. There are no more of them than credentials. */
  readonly proven: boolean
}

export interface Passwords {
  /** @throws GatewayError GW_OVERLOADED if too many wait */
  verify(hash: string, password: string, claim?: HashClaim): Promise<boolean>
  hash(password: string): Promise<string>
}

// OWASP's first choice for argon2id: 19 MiB, two passes, one lane; about 11 ms of one core.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Computes hashes off the main thread, a few at a time. One per process: a limit per engine would not bound the process. */
export function createPasswords(options: PasswordOptions = {}): Passwords {
  const withSemaphore = createTurnstile(options.concurrency ?? 4, options.maxQueued ?? 256)
  return {
    verify: (hash, password, claim) => withSemaphore(() => verifyHash(hash, password), claim),
    // argon2id is the library's default algorithm.
    hash: (password) => withSemaphore(() => argon2.hash(password, COST)),
  }
}

function verifyHash(hash: string, password: string): Promise<boolean> {
  if (hash.startsWith('$argon2id$')) return argon2.verify(hash, password)
  // PHP and Apache write $2y$ where everybody else writes $2b$, which is the only one that the library knows.
  return bcrypt.compare(password, hash.startsWith('$2y$') ? `$2b$${hash.slice(4)}` : hash)
}

interface Waiter {
  readonly enter: () => void
  readonly refuse: (error: Error) => void
}

const ANYBODY: HashClaim = { from: '', proven: false }

/** A semaphore with round robin by origin: no origin keeps the others waiting. */
function createTurnstile(places: number, maxQueued: number) {
  const proven: Waiter[] = []
  const origins = new Map<string, Waiter[]>() // in the order of their turns, none is empty
  let waiting = 0
  let busy = 0
  return async function limited<T>(work: () => Promise<T>, claim = ANYBODY): Promise<T> {
    if (busy < places) busy += 1
    else await place(claim)
    try {
      return await work()
    } finally {
      const next = nextWaiter()
      if (next === undefined) busy -= 1
      else next.enter()
    }
  }

  function place({ from, proven: isProven }: HashClaim): Promise<void> {
    if (waiting >= maxQueued) makeRoom(isProven ? -1 : (origins.get(from)?.length ?? 0))
    const queue = isProven ? proven : (origins.get(from) ?? [])
    if (!isProven) origins.set(from, queue)
    waiting += 1
    return new Promise((resolve, reject) => {
      queue.push({ enter: resolve, refuse: reject })
    })
  }

  function nextWaiter(): Waiter | undefined {
    const next = proven.shift() ?? nextGuess()
    if (next !== undefined) waiting -= 1
    return next
  }

  function nextGuess(): Waiter | undefined {
    const [turn] = origins
    if (turn === undefined) return undefined
    const [from, queue] = turn
    const next = queue.shift()
    origins.delete(from)
    if (queue.length > 0) origins.set(from, queue)
    return next
  }

  /** Removes the last waiter of the longest queue; if that is the newcomer's, refuses the newcomer. @throws GatewayError GW_OVERLOADED */
  function makeRoom(ownCount: number): void {
    const overloaded = new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 1 })
    const [longest] = [...origins].sort(([, one], [, other]) => other.length - one.length)
    const [from, queue] = longest ?? []
    const last = queue !== undefined && queue.length > ownCount + 1 ? queue.pop() : undefined
    if (last === undefined || from === undefined) throw overloaded
    if (queue?.length === 0) origins.delete(from)
    waiting -= 1
    last.refuse(overloaded)
  }
}
