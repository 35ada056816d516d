import { hash, randomUUID } from 'node:crypto'
import {
  type CompletedOutcome,
  MAX_KEPT_BYTES,
  MAX_RECORD_BYTES,
  type UnstoredOutcome,
  encodeRecord,
  type IdempotencyRecord,
  decodeRecord,
} from './record.ts'
import type { RedisCommand, RedisReply } from '../redis/redis-client.ts'
import { RemovalWatch } from '../redis/removal-policy.ts'
import { RedisLink, type SharedStateOptions } from '../redis/redis-link.ts'
import { SIGNATURE_BYTES, type Signer } from '../redis/signature.ts'
import { isStoredHead, storedHeadersOf } from '../redis/stored-response.ts'

interface IdempotencyStoreOptions extends SharedStateOptions {
  readonly signer: Signer
  /** How long an outcome is stored. */
  readonly keepMs: number
  /** The claims of the store that this one replaces in the same process. */
  readonly openClaims?: OpenClaims | undefined
  /** Called with the policy by which Redis removes keys that have not expired, or null, whenever it is another one. */
  readonly onRemovalPolicy?: (policy: string | null) => void
}

/** A claim of this process whose outcome is not yet stored in Redis. */
interface OpenClaim {
  /** The value in Redis. */
  readonly claimed: Buffer
  readonly fingerprint: string
  readonly keepMs: number
}

/** The open claims by their keys in Redis. If Redis loses its data, the same process must not admit a request a second time. */
export type OpenClaims = Map<string, OpenClaim>

/** A request that must be executed once. */
export interface KeyedRequest {
  /** The caller and the client's idempotency key. */
  readonly key: string
  /** The hash of everything that determines the effect of the request. */
  readonly fingerprint: string
  /** The longest time for which the request can be in flight. */
  readonly underWayMs: number
}

export type ClaimResult =
  | { readonly state: 'first'; readonly claim: Claim }
  | ReplayOutcome
  /** Redis is not available now, so the request must not be executed. */
  | { readonly state: 'unavailable' }

/**
 * The outcome of the first request. `reused`: the first request with this key was a different one. `unreadable`: the stored value
 * was not written by a gateway, or its signature matches no key.
 */
export type ReplayOutcome =
  | CompletedOutcome
  | UnstoredOutcome
  | { readonly state: 'in progress' | 'unknown' | 'unreadable' | 'reused' }

/**
 * The right to execute the request until one of the functions is called. They resolve to false if Redis did not receive the outcome,
 * and never reject.
 */
export interface Claim {
  readonly keep: (outcome: Omit<CompletedOutcome, 'state'>) => Promise<boolean>
  /** Records that the request may have been executed. It must not be executed again. */
  readonly leaveUnknown: () => Promise<boolean>
  /** Removes the claim of a request that was not executed. The next request with this key counts as the first. */
  readonly release: () => Promise<boolean>
}

/** The longest wait for a new connection. After a reload, it is established a few milliseconds after the gateway starts. */
const CONNECT_MS = 1000
/** The limits for outcomes that wait to be sent while Redis is unreachable. The oldest outcome is dropped first. */
const MAX_PENDING = 1000
const MAX_PENDING_BYTES = 8 * 1024 ** 2

// The outcome is also written if no value is stored. Redis may have lost the claim, but the request was executed.
const REPLACE = `local current = redis.call('GET', KEYS[1])
if current and current ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`
const RELEASE = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`

/** The number of open claims that are stored again with one round trip. */
const CLAIMS_AT_ONCE = 200

const UNAVAILABLE: ClaimResult = { state: 'unavailable' }

/** The value that replaces a claim. If `becomes` is null, the claim is deleted. */
interface Settlement {
  /** The key in Redis. */
  readonly name: string
  readonly claimed: Buffer
  readonly becomes: Buffer | null
}

/** Records which requests with an idempotency key were executed, with their responses, for all gateways that share a Redis. */
export class IdempotencyStore {
  readonly #link: RedisLink
  readonly #prefix: string
  readonly #keepMs: number
  readonly #signer: Signer
  readonly #removals: RemovalWatch
  readonly #connected: Promise<void>
  #onConnected: (() => void) | null = null
  readonly openClaims: OpenClaims
  /** The number of claims without an outcome. */
  #open = 0
  #onIdle: (() => void) | null = null
  readonly #pending = new Set<Settlement>()
  #pendingBytes = 0

  constructor(options: IdempotencyStoreOptions) {
    const { redis, namespace, signer, keepMs, now, openClaims = new Map() } = options
    this.openClaims = openClaims
    this.#prefix = `engine-gateway:${namespace}:once:`
    this.#keepMs = keepMs
    this.#signer = signer
    this.#connected = new Promise((resolve) => {
      this.#onConnected = resolve
      // If this process was blocked, the connection may already be established.
      setTimeout(() => setImmediate(resolve), CONNECT_MS).unref()
    })
    const onReady = (): void => {
      this.#onConnected?.()
      void this.#restoreClaims()
      void this.#flush()
      void this.#removals.read()
    }
    this.#link = new RedisLink({ redis, prefix: this.#prefix, now, onReady })
    this.#removals = new RemovalWatch({
      readReports: () => this.#link.memoryReports(),
      onChange: options.onRemovalPolicy ?? (() => undefined),
    })
  }

  /** The policy by which Redis removes keys that have not expired. Null if it removes none, undefined if this is unknown. */
  get removalPolicy(): string | null | undefined {
    return this.#removals.policy
  }

  async claim({ key, fingerprint, underWayMs }: KeyedRequest): Promise<ClaimResult> {
    await this.#connected
    const name = this.#nameOf(key)
    const known = this.openClaims.get(name)
    if (known !== undefined) return this.#claimAgain(name, known, fingerprint)
    // A claim that expired during the request would admit a second request.
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
      // The claim may have succeeded nevertheless, although the request is not sent.
      this.#addPending({ name, claimed, becomes: null })
      return UNAVAILABLE
    }
    if (this.#pending.size > 0) void this.#flush()
    // If the outcome has expired in the meantime, the client's next attempt is decided again.
    return this.#previousIn(name, found, fingerprint) ?? { state: 'in progress' }
  }

  /** Stores an open claim again if Redis has lost it. Never admits the request. */
  async #claimAgain(
    name: string,
    { claimed, keepMs, fingerprint: first }: OpenClaim,
    fingerprint: string,
  ): Promise<ClaimResult> {
    const replies = await this.#link.run([['set', name, claimed, 'PX', keepMs, 'NX'], ...readsOfRecord(name)])
    if (isSet(replies)) return { state: first === fingerprint ? 'in progress' : 'reused' }
    const [set, ...found] = typeof replies === 'string' ? [] : replies
    if (set === undefined || set[0] !== null) return UNAVAILABLE
    return this.#previousIn(name, found, fingerprint) ?? { state: 'in progress' }
  }

  /**
   * Stores all open claims again after each new connection, because Redis may have lost its data. Otherwise another gateway would
   * admit a repetition of a request that is in flight here. A claim that Redis still has keeps its expiry.
   */
  async #restoreClaims(): Promise<void> {
    const claims = [...this.openClaims]
    for (let at = 0; at < claims.length; at += CLAIMS_AT_ONCE) {
      const commands = claims
        .slice(at, at + CLAIMS_AT_ONCE)
        // A claim that was settled in the meantime must not return.
        .filter(([name, { claimed }]) => this.openClaims.get(name)?.claimed === claimed)
        .map(([name, { claimed, keepMs }]) => ['set', name, claimed, 'PX', keepMs, 'NX'] as const)
      if (commands.length > 0) await this.#link.run(commands, true)
    }
  }

  #forget(name: string, claimed: Buffer): void {
    if (this.openClaims.get(name)?.claimed === claimed) this.openClaims.delete(name)
  }

  /** Resolves to the outcome without claiming the key, or to null if no outcome is stored or Redis is not available. */
  async find({ key, fingerprint }: Omit<KeyedRequest, 'underWayMs'>): Promise<ReplayOutcome | null> {
    await this.#connected
    const name = this.#nameOf(key)
    const replies = await this.#link.run(readsOfRecord(name))
    return typeof replies === 'string' ? null : this.#previousIn(name, replies, fingerprint)
  }

  /** Closes the store after all claims of this process have an outcome. */
  async close(): Promise<void> {
    if (this.#open > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    await this.#flush()
    this.#removals.close()
    this.#link.close()
  }

  #claimOf(name: string, claimed: Buffer, fingerprint: string): Claim {
    this.#open += 1
    const settle = async (stored: IdempotencyRecord | null): Promise<boolean> => {
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

  #encode(name: string, stored: IdempotencyRecord): Buffer {
    return this.#signer.sign(name, encodeRecord(stored))
  }

  /** Returns the outcome, or null if nothing is stored. An unreadable value does not belong to a request that is still to be executed. */
  #previousIn(
    name: string,
    [ttl, value, exists]: readonly RedisReply[],
    fingerprint: string,
  ): ReplayOutcome | null {
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

/** Returns the outcome with the headers that may be stored. A session that the first request opened is not opened again. */
function storedOutcomeOf({
  answer,
  address,
}: Omit<CompletedOutcome, 'state'>): CompletedOutcome | UnstoredOutcome {
  const { status, body } = answer
  const headers = storedHeadersOf(answer)
  const isKept = body.length <= MAX_KEPT_BYTES && isStoredHead({ status, headers }, body.length)
  return isKept
    ? { state: 'done', answer: { status, headers, body }, address }
    : { state: 'not kept', status }
}

/**
 * Returns the commands that read a record. The time to live is read first, so that a record that expires between the commands does
 * not look like a record without a value. At most the length of a record is read.
 */
function readsOfRecord(name: string): readonly RedisCommand[] {
  return [
    ['pttl', name],
    ['getrangeBuffer', name, 0, SIGNATURE_BYTES + MAX_RECORD_BYTES],
    ['exists', name],
  ]
}

/**
 * Returns true if the claimed request may still be in flight. A record that was written between the two commands has no time to live
 * yet (-2). A record without expiry (-1) was not written by a gateway.
 */
function isInFlight(
  { keepMs, underWayMs }: Extract<IdempotencyRecord, { readonly state: 'claimed' }>,
  ttl?: RedisReply,
) {
  const leftMs = ttl?.[1]
  if (leftMs === -2) return true
  return typeof leftMs === 'number' && leftMs >= 0 && leftMs <= keepMs && keepMs - leftMs <= underWayMs
}

function settlementBytesOf({ claimed, becomes }: Settlement): number {
  return claimed.length + (becomes?.length ?? 0)
}
