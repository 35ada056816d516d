import argon2 from '@node-rs/argon2'
import bcrypt from 'bcrypt'
import { createTurnstile, type TurnstileClaim } from './turnstile.ts'

export interface PasswordOptions {
  /** Hashes computed at the same time; default 4. They occupy libuv threads (4 unless UV_THREADPOOL_SIZE says otherwise), which DNS and file reads need too. */
  readonly concurrency?: number
  /** Hashes that wait for a free thread; default 256. Beyond it: 503 GW_OVERLOADED, Retry-After 1. */
  readonly maxQueued?: number
}

export interface Passwords {
  /** @throws GatewayError GW_OVERLOADED if too many wait */
  verify(hash: string, password: string, claim?: TurnstileClaim): Promise<boolean>
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
