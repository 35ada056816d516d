import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import {
  type Claim,
  type ClaimResult,
  IdempotencyStore,
  type OpenClaims,
} from '../../src/idempotency/idempotency-store.ts'
import { createSigner } from '../../src/redis/signature.ts'

export const ONCE = { key: 'mary 1', fingerprint: 'start review', underWayMs: 60_000 }
export const KEEP_MS = 3_600_000
export const ADDRESS = 'gateway:8080/engine-rest'

/** Opens the store of one gateway. It is closed at the end of the test. */
export function openReplays(t: Test, url: string, namespace = t.name, keys: readonly string[] = []) {
  return closedWith(t, new IdempotencyStore({ ...optionsOf(url, namespace), signer: createSigner(keys) }))
}

/** Opens the store that replaces another one in the same process. */
export function openNextReplays(t: Test, url: string, openClaims: OpenClaims) {
  return closedWith(t, new IdempotencyStore({ ...optionsOf(url, t.name), openClaims }))
}

function optionsOf(url: string, namespace: string) {
  return {
    redis: { url },
    namespace,
    signer: createSigner([]),
    keepMs: KEEP_MS,
    now: () => performance.now(),
  }
}

function closedWith(t: Test, store: IdempotencyStore): IdempotencyStore {
  t.teardown(() => store.close())
  return store
}

export function openControl(t: Test, url: string): Redis {
  const control = new Redis(url)
  t.teardown(() => control.disconnect())
  return control
}

export function firstOf(claiming: ClaimResult): Claim {
  if (claiming.state !== 'first') throw new Error(`It was ${claiming.state}`)
  return claiming.claim
}
