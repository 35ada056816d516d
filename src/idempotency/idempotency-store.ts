import { hash, randomUUID } from 'node:crypto'
import type { RedisSettings } from '../config/redis-types.ts'
import {
  type Done,
  MAX_KEPT_BYTES,
  MAX_RECORD_BYTES,
  type NotKept,
  encodeRecord,
  type Stored,
  decodeRecord,
} from './record.ts'
import type { RedisCommand, Reply } from '../redis/redis-client.ts'
import { RedisLink } from '../redis/redis-link.ts'
import { SIGNATURE_BYTES, type Signer } from '../redis/signature.ts'
import { isStoredHead, storedHeadersOf } from '../redis/stored-answer.ts'

interface IdempotencyStoreOptions {
  readonly redis: RedisSettings
  /** Separates deployments that share a Redis and have other engines of the same name. */
  readonly namespace: string
  readonly signer: Signer
  /** How long an outcome is stored. */
  readonly keepMs: number
  /** Monotonic milliseconds, as `performance.now`. */
  readonly now: () => number
  /** The claims of the store that this one replaces in the same process. */
  readonly openClaims?: OpenClaims
}

/** A claim that this process has made, and whose outcome Redis does not have yet. */
interface OpenClaim {
  /** The value in Redis. */
  readonly claimed: Buffer
  readonly fingerprint: string
  readonly keepMs: number
}

/** Open claims by their keys in Redis. A Redis that loses its data must not admit a request a second time in the same process. */
export type OpenClaims = Map<string, OpenClaim>

/** A request that must be executed once. */
export interface KeyedRequest {
  /** The caller and the client's key. */
  readonly key: string
  /** Hash of everything that decides what the request does. */
  readonly fingerprint: string
  /** How long it can be in flight. */
  readonly underWayMs: number
}

export type Claiming =
  | { readonly state: 'first'; readonly claim: Claim }
  | PreviousOutcome
  /** Redis cannot be asked now: the request must not proceed. */
  | { readonly state: 'unavailable' }

/** The outcome of the first request. `reused`: that one was a different request. `unreadable`: the stored value is no gateway's, or no key has signed it. */
export type PreviousOutcome =
  | Done
  | NotKept
  | { readonly state: 'in progress' | 'unknown' | 'unreadable' | 'reused' }

/** The right to execute the request, until one of these is called. They resolve to false if Redis could not be informed; they never reject. */
export interface Claim {
  readonly keep: (outcome: Omit<Done, 'state'>) => Promise<boolean>
  /** The request may have been executed: it must not be executed again. */
  readonly leaveUnknown: () => Promise<boolean>
  /** Nothing was executed: the next request with this key is the first. */
  readonly release: () => Promise<boolean>
}

/** Records which requests with an idempotency key were executed and how they were answered, for all gateways that share a Redis. */
export interface IdempotencyStore {
  claim(request: KeyedRequest): Promise<Claiming>
  /** Reads the outcome without claiming; null: there is none, or Redis cannot answer. */
  find(request: Omit<KeyedRequest, 'underWayMs'>): Promise<PreviousOutcome | null>
  readonly openClaims: OpenClaims
  /** Waits for the claims of this process. */
  close(): Promise<void>
}

/** How long a new link is awaited: after a reload it connects a few milliseconds after the gateway starts. */
const CONNECT_MS = 1000
/** Limits of what is stored for a later send while Redis is unreachable; the oldest is dropped first. */
const MAX_PENDING = 1000
const MAX_PENDING_BYTES = 8 * 1024 ** 2

// Also written if nothing is stored: Redis may have lost the claim, but the request was executed.
const REPLACE = `local current = redis.call('GET', KEYS[1])
if current and current ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`
const RELEASE = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`

const UNAVAILABLE: Claiming = { state: 'unavailable' }

export function createIdempotencyStore(options: IdempotencyStoreOptions): IdempotencyStore {
  return new RedisIdempotencyStore(options)
}

/** What replaces a claim; null: nothing. */
interface Settlement {
  /** The key in Redis. */
  readonly name: string
  readonly claimed: Buffer
  readonly becomes: Buffer | null
}

class RedisIdempotencyStore implements IdempotencyStore {
  readonly #link: RedisLink
  readonly #prefix: string
  readonly #keepMs: number
  readonly #signer: Signer
  readonly #connected: Promise<void>
  #onConnected: (() => void) | null = null
  readonly openClaims: OpenClaims
  /** Claims without an outcome. */
  #open = 0
  #onIdle: (() => void) | null = null
  readonly #pending = new Set<Settlement>()
  #pendingBytes = 0

  constructor({ redis, namespace, signer, keepMs, now, openClaims = new Map() }: IdempotencyStoreOptions) {
    this.openClaims = openClaims
    this.#prefix = `engine-gateway:${namespace}:once:`
    this.#keepMs = keepMs
    this.#signer = signer
    this.#connected = new Promise((resolve) => {
      this.#onConnected = resolve
      // The link may be connected by now if this process was late.
      setTimeout(() => setImmediate(resolve), CONNECT_MS).unref()
    })
    const onReady = (): void => {
      this.#onConnected?.()
      void this.#flush()
    }
    // The cache's link logs the state: both connect to the same server.
    this.#link = new RedisLink({ redis, prefix: this.#prefix, now, log: () => undefined, onReady })
  }

  async claim({ key, fingerprint, underWayMs }: KeyedRequest): Promise<Claiming> {
    await this.#connected
    const name = this.#nameOf(key)
    const known = this.openClaims.get(name)
    if (known !== undefined) return this.#claimAgain(name, known, fingerprint)
    // If it expired during the request, it would admit a second one.
    const keepMs = Math.max(this.#keepMs, 2 * underWayMs)
    const owner = randomUUID()
    const claimed = this.#encode(name, { state: 'claimed', fingerprint, owner, keepMs, underWayMs })
    this.openClaims.set(name, { claimed, fingerprint, keepMs })
    const replies = await this.#link.run([['set', name, claimed, 'PX', keepMs, 'NX'], ...readsOfRecord(name)])
    if (isSet(replies)) {
      if (this.#pending.size > 0) void this.#flush()
      return { state: 'first', claim: this.#claimOf(name, claimed, fingerprint) }
    }
    this.#forget(name, claimed)
    if (replies === 'skipped') return UNAVAILABLE
    const [set, ...found] = typeof replies === 'string' ? [] : replies
    if (set === undefined || set[0] !== null) {
      // The claim may have succeeded all the same, for a request that is not sent.
      this.#addPending({ name, claimed, becomes: null })
      return UNAVAILABLE
    }
    if (this.#pending.size > 0) void this.#flush()
    // If the outcome has expired since, the client's next attempt decides.
    return this.#previousIn(name, found, fingerprint) ?? { state: 'in progress' }
  }

  /** Stores an open claim again if Redis has lost it, and never admits the request. */
  async #claimAgain(
    name: string,
    { claimed, keepMs, fingerprint: first }: OpenClaim,
    fingerprint: string,
  ): Promise<Claiming> {
    const replies = await this.#link.run([['set', name, claimed, 'PX', keepMs, 'NX'], ...readsOfRecord(name)])
    if (isSet(replies)) return { state: first === fingerprint ? 'in progress' : 'reused' }
    const [set, ...found] = typeof replies === 'string' ? [] : replies
    if (set === undefined || set[0] !== null) return UNAVAILABLE
    return this.#previousIn(name, found, fingerprint) ?? { state: 'in progress' }
  }

  #forget(name: string, claimed: Buffer): void {
    if (this.openClaims.get(name)?.claimed === claimed) this.openClaims.delete(name)
  }

  async find({ key, fingerprint }: Omit<KeyedRequest, 'underWayMs'>): Promise<PreviousOutcome | null> {
    await this.#connected
    const name = this.#nameOf(key)
    const replies = await this.#link.run(readsOfRecord(name))
    return typeof replies === 'string' ? null : this.#previousIn(name, replies, fingerprint)
  }

  async close(): Promise<void> {
    if (this.#open > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    await this.#flush()
    this.#link.close()
  }

  #claimOf(name: string, claimed: Buffer, fingerprint: string): Claim {
    this.#open += 1
    const settle = async (stored: Stored | null): Promise<boolean> => {
      const settlement = { name, claimed, becomes: stored === null ? null : this.#encode(name, stored) }
      if (stored === null) this.#forget(name, claimed)
      const isSent = await this.#send(settlement)
      if (isSent) this.#forget(name, claimed)
      else this.#addPending(settlement)
      this.#open -= 1
      if (this.#open === 0) this.#onIdle?.()
      return isSent
    }
    return {
      keep: (outcome) => settle({ ...storedOutcomeOf(outcome), fingerprint }),
      leaveUnknown: () => settle({ state: 'unknown', fingerprint }),
      release: () => settle(null),
    }
  }

  async #send({ name, claimed, becomes }: Settlement): Promise<boolean> {
    const replies = await this.#link.run(
      [
        becomes === null
          ? ['eval', RELEASE, 1, name, claimed]
          : ['eval', REPLACE, 1, name, claimed, becomes, this.#keepMs],
      ],
      true,
    )
    return typeof replies !== 'string' && replies[0]?.[0] === null
  }

  async #flush(): Promise<void> {
    const pending = [...this.#pending]
    this.#pending.clear()
    this.#pendingBytes = 0
    await Promise.all(
      pending.map(async (settlement) => {
        if (await this.#send(settlement)) this.#forget(settlement.name, settlement.claimed)
        else this.#addPending(settlement)
      }),
    )
  }

  #addPending(settlement: Settlement): void {
    this.#pending.add(settlement)
    this.#pendingBytes += settlementBytesOf(settlement)
    for (const oldest of this.#pending) {
      if (this.#pending.size <= MAX_PENDING && this.#pendingBytes <= MAX_PENDING_BYTES) return
      this.#pending.delete(oldest)
      this.#forget(oldest.name, oldest.claimed)
      this.#pendingBytes -= settlementBytesOf(oldest)
    }
  }

  #encode(name: string, stored: Stored): Buffer {
    return this.#signer.sign(name, encodeRecord(stored))
  }

  /** Null: nothing is stored. An unreadable value was not written for a request that is still to be executed. */
  #previousIn(
    name: string,
    [ttl, value, exists]: readonly Reply[],
    fingerprint: string,
  ): PreviousOutcome | null {
    // GETRANGE returns an empty string for a missing key.
    if (exists?.[1] === 0) return null
    const opened = Buffer.isBuffer(value?.[1]) ? this.#signer.open(name, value[1]) : null
    const stored = opened === null ? null : decodeRecord(opened)
    if (stored === null) return { state: 'unreadable' }
    if (stored.fingerprint !== fingerprint) return { state: 'reused' }
    if (stored.state === 'claimed') return { state: isInFlight(stored, ttl) ? 'in progress' : 'unknown' }
    return stored.state === 'unknown' ? { state: 'unknown' } : stored
  }

  #nameOf(key: string): string {
    return this.#prefix + hash('sha256', key, 'base64url')
  }
}

function isSet(replies: Awaited<ReturnType<RedisLink['run']>>): boolean {
  if (typeof replies === 'string') return false
  const [error, reply] = replies[0] ?? [null, null]
  return error === null && reply === 'OK'
}

/** Includes the stored headers. A session that was opened by the first request is not opened again. */
function storedOutcomeOf({ answer, address }: Omit<Done, 'state'>): Done | NotKept {
  const { status, body } = answer
  const headers = storedHeadersOf(answer)
  const isKept = body.length <= MAX_KEPT_BYTES && isStoredHead({ status, headers }, body.length)
  return isKept
    ? { state: 'done', answer: { status, headers, body }, address }
    : { state: 'not kept', status }
}

/**
 * Reads the time to live first: a record that expires between the two commands then does not look like one without a
 * value. Reads at most the length of a record.
 */
function readsOfRecord(name: string): readonly RedisCommand[] {
  return [
    ['pttl', name],
    ['getrangeBuffer', name, 0, SIGNATURE_BYTES + MAX_RECORD_BYTES],
    ['exists', name],
  ]
}

/** A record written between the two commands has no time to live yet (-2). A record without expiry (-1) was not written by a gateway. */
function isInFlight({ keepMs, underWayMs }: Extract<Stored, { readonly state: 'claimed' }>, ttl?: Reply) {
  const leftMs = ttl?.[1]
  if (leftMs === -2) return true
  return typeof leftMs === 'number' && leftMs >= 0 && leftMs <= keepMs && keepMs - leftMs <= underWayMs
}

function settlementBytesOf({ claimed, becomes }: Settlement): number {
  return claimed.length + (becomes?.length ?? 0)
}
