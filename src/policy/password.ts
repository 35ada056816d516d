import argon2 from '@node-rs/argon2'
import bcrypt from 'bcrypt'
import { GatewayError } from '../errors.ts'

export interface PasswordOptions {
  /** Hashes at work at once; default 4. They occupy libuv threads (4 unless UV_THREADPOOL_SIZE says otherwise), which DNS and file reads need too. */
  readonly concurrency?: number
  /** Hashes waiting for a place; default 256. Over it: 503 GW_OVERLOADED, Retry-After 1. */
  readonly maxQueued?: number
}

export interface Passwords {
  verify(hash: string, password: string): Promise<boolean>
  hash(password: string): Promise<string>
}

// OWASP's first choice for argon2id: 19 MiB, two passes, one lane; about 11 ms of one core.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Hashes off the main thread, a few at a time. One for the process: the bound is worth nothing if every engine has its own. */
export function createPasswords(options: PasswordOptions = {}): Passwords {
  const inTurn = createTurnstile(options.concurrency ?? 4, options.maxQueued ?? 256)
  return {
    verify: (hash, password) => inTurn(() => verifyHash(hash, password)),
    // argon2id is the library's default algorithm.
    hash: (password) => inTurn(() => argon2.hash(password, COST)),
  }
}

function verifyHash(hash: string, password: string): Promise<boolean> {
  if (hash.startsWith('$argon2id$')) return argon2.verify(hash, password)
  // PHP and Apache write $2y$ for what everybody else calls $2b$; the library knows only the latter.
  return bcrypt.compare(password, hash.startsWith('$2y$') ? `$2b$${hash.slice(4)}` : hash)
}

function createTurnstile(places: number, maxQueued: number) {
  const waiting: (() => void)[] = []
  let busy = 0
  return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (busy < places) busy += 1
    else await place()
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) busy -= 1
      else next()
    }
  }

  function place(): Promise<void> {
    if (waiting.length >= maxQueued) throw new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 1 })
    return new Promise((resolve) => {
      waiting.push(resolve)
    })
  }
}
