import argon2 from '@node-rs/argon2'
import bcrypt from 'bcrypt'
import { createVerificationQueue, type VerificationOrigin } from './verification-queue.ts'

export interface PasswordOptions {
  /**
   * The number of hashes that are computed at the same time. Default: 4. They occupy libuv threads, which DNS and file reads also
   * need. There are 4 threads unless UV_THREADPOOL_SIZE is set.
   */
  readonly concurrency?: number
  /** The number of hashes that may wait for a free thread. Default: 256. Further hashes get 503 GW_OVERLOADED with Retry-After 1. */
  readonly maxQueued?: number
}

export interface Passwords {
  /** @throws GatewayError GW_OVERLOADED if too many wait */
  verify(hash: string, password: string, claim?: VerificationOrigin): Promise<boolean>
  hash(password: string): Promise<string>
}

// OWASP's first recommendation for argon2id: 19 MiB, two passes, one lane. It takes about 11 ms of one core.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Computes hashes outside the main thread, a few at a time. A process needs one instance, because limits per engine would not bound the process. */
export function createPasswords(options: PasswordOptions = {}): Passwords {
  const withSemaphore = createVerificationQueue(options.concurrency ?? 4, options.maxQueued ?? 256)
  return {
    verify: (hash, password, claim) => withSemaphore(() => verifyHash(hash, password), claim),
    // argon2id is the library's default algorithm.
    hash: (password) => withSemaphore(() => argon2.hash(password, COST)),
  }
}

function verifyHash(hash: string, password: string): Promise<boolean> {
  if (hash.startsWith('$argon2id$')) return argon2.verify(hash, password)
  // PHP and Apache write $2y$ instead of $2b$. The library supports only $2b$.
  return bcrypt.compare(password, hash.startsWith('$2y$') ? `$2b$${hash.slice(4)}` : hash)
}
