import { hash, randomUUID } from 'node:crypto'
import type { ChainableCommander } from 'ioredis'
import {
  type Done,
  MAX_KEPT_BYTES,
  MAX_RECORD_BYTES,
  type NotKept,
  encodeRecord,
  type Stored,
  decodeRecord,
} from './record.ts'
import { RedisLink, type Reply } from '../redis/redis-link.ts'
import { SIGNATURE_BYTES, type Signer } from '../redis/signature.ts'
import { isStoredHead, storedHeadersOf } from '../redis/stored-answer.ts'

interface IdempotencyStoreOptions {
  readonly url: string
  /** Parts those who share a Redis and stand before other engines of the same name. */
  readonly namespace: string
  readonly signer: Signer
  /** How long an outcome is kept. */
  readonly keepMs: number
  /** Monotonic milliseconds, as `performance.now`. */
  readonly now: () => number
}

/** A request that is to be done once. */
export interface KeyedRequest {
  /** Whose it is, and how the client calls it. */
  readonly key: string
  /** Of all that decides what it does. */
  readonly fingerprint: string
  /** How long it can be under way. */
  readonly underWayMs: number
}

export type Claiming =
  | { readonly state: 'first'; readonly claim: Claim }
  | PreviousOutcome
  /** Redis cannot be asked now: nobody may go on. */
  | { readonly state: 'unavailable' }

/**
 * What has become of the first request. `reused`: it was another one. `unreadable`: what stands there is no gateway's, or none
 * of the keys has signed it.
 */
export type PreviousOutcome =
  | Done
  | NotKept
  | { readonly state: 'in progress' | 'unknown' | 'unreadable' | 'reused' }

/** The right to do it, until one of these is called. They resolve to false when Redis could not be told; they never reject. */
export interface Claim {
  readonly keep: (outcome: Omit<Done, 'state'>) => Promise<boolean>
  /** It may have been done: nobody may do it again. */
  readonly leaveUnknown: () => Promise<boolean>
  /** Nothing was done: whoever asks next is the first. */
  readonly release: () => Promise<boolean>
}

/** Which requests with a key of the client's own have been done, and how they were answered: for all gateways that share a Redis. */
export interface IdempotencyStore {
  claim(once: KeyedRequest): Promise<Claiming>
  /** The same without becoming the first; null: there was none, or Redis cannot tell. */
  find(once: Omit<KeyedRequest, 'underWayMs'>): Promise<PreviousOutcome | null>
  /** Waits for what is claimed here. */
  close(): Promise<void>
}

/** A new link is waited for so long: after a reload it stands a few milliseconds later than its gateway. */
const CONNECT_MS = 1000
/** What could not be told is told when Redis is back, up to so many and so much of it; the oldest goes first. */
const MAX_UNTOLD = 1000
const MAX_UNTOLD_BYTES = 8 * 1024 ** 2

// Written where nothing stands too: Redis may have lost the claim, but what was done stays done.
const SETTLE = `local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`
const RELEASE = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`

const UNAVAILABLE: Claiming = { state: 'unavailable' }

export function createIdempotencyStore(options: IdempotencyStoreOptions): IdempotencyStore {
  return new SharedReplays(options)
}

/** What a claim becomes; null: nothing. */
interface Settlement {
  /** Of the key, in Redis. */
  readonly name: string
  readonly claimed: Buffer
  readonly becomes: Buffer | null
}

class SharedReplays implements IdempotencyStore {
  readonly #link: RedisLink
  readonly #prefix: string
  readonly #keepMs: number
  readonly #signer: Signer
  readonly #connected: Promise<void>
  #onConnected: (() => void) | null = null
  /** Claims that are not settled. */
  #open = 0
  #onIdle: (() => void) | null = null
  readonly #pending = new Set<Settlement>()
  #untoldBytes = 0

  constructor({ url, namespace, signer, keepMs, now }: IdempotencyStoreOptions) {
    this.#prefix = `engine-gateway:${namespace}:once:`
    this.#keepMs = keepMs
    this.#signer = signer
    this.#connected = new Promise((resolve) => {
      this.#onConnected = resolve
      // It may stand by then, and this process be late.
      setTimeout(() => setImmediate(resolve), CONNECT_MS).unref()
    })
    const onReady = (): void => {
      this.#onConnected?.()
      void this.#tellAll()
    }
    // Its state is logged by the cache's link: both lead to the same server.
    this.#link = new RedisLink({ url, now, log: () => undefined, onReady })
  }

  async claim({ key, fingerprint, underWayMs }: KeyedRequest): Promise<Claiming> {
    await this.#connected
    const name = this.#nameOf(key)
    // Gone while the request is under way, it would let a second one in.
    const keepMs = Math.max(this.#keepMs, 2 * underWayMs)
    const owner = randomUUID()
    const claimed = this.#written(name, { state: 'claimed', fingerprint, owner, keepMs, underWayMs })
    const replies = await this.#link.run((pipeline) =>
      readRecord(pipeline.set(name, claimed, 'PX', keepMs, 'NX'), name),
    )
    if (replies === 'skipped') return UNAVAILABLE
    const [set, ...found] = typeof replies === 'string' ? [] : replies
    if (set === undefined || set[0] !== null) {
      // It may have been claimed all the same, for a request that is not sent.
      this.#remember({ name, claimed, becomes: null })
      return UNAVAILABLE
    }
    if (this.#pending.size > 0) void this.#tellAll()
    if (set[1] === 'OK') return { state: 'first', claim: this.#claimOf(name, claimed, fingerprint) }
    // What has gone since is left to the client's next try.
    return this.#earlierIn(name, found, fingerprint) ?? { state: 'in progress' }
  }

  async find({ key, fingerprint }: Omit<KeyedRequest, 'underWayMs'>): Promise<PreviousOutcome | null> {
    await this.#connected
    const name = this.#nameOf(key)
    const replies = await this.#link.run((pipeline) => readRecord(pipeline, name))
    return typeof replies === 'string' ? null : this.#earlierIn(name, replies, fingerprint)
  }

  async close(): Promise<void> {
    if (this.#open > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    await this.#tellAll()
    this.#link.close()
  }

  #claimOf(name: string, claimed: Buffer, fingerprint: string): Claim {
    this.#open += 1
    const settle = async (stored: Stored | null): Promise<boolean> => {
      const settlement = { name, claimed, becomes: stored === null ? null : this.#written(name, stored) }
      const isTold = await this.#tell(settlement)
      if (!isTold) this.#remember(settlement)
      this.#open -= 1
      if (this.#open === 0) this.#onIdle?.()
      return isTold
    }
    return {
      keep: (outcome) => settle({ ...keptOf(outcome), fingerprint }),
      leaveUnknown: () => settle({ state: 'unknown', fingerprint }),
      release: () => settle(null),
    }
  }

  async #tell({ name, claimed, becomes }: Settlement): Promise<boolean> {
    const replies = await this.#link.run(
      (pipeline) =>
        becomes === null
          ? pipeline.eval(RELEASE, 1, name, claimed)
          : pipeline.eval(SETTLE, 1, name, claimed, becomes, this.#keepMs),
      true,
    )
    return typeof replies !== 'string' && replies[0]?.[0] === null
  }

  async #tellAll(): Promise<void> {
    const pending = [...this.#pending]
    this.#pending.clear()
    this.#untoldBytes = 0
    await Promise.all(
      pending.map(async (settlement) => {
        if (!(await this.#tell(settlement))) this.#remember(settlement)
      }),
    )
  }

  #remember(settlement: Settlement): void {
    this.#pending.add(settlement)
    this.#untoldBytes += bytesOf(settlement)
    for (const oldest of this.#pending) {
      if (this.#pending.size <= MAX_UNTOLD && this.#untoldBytes <= MAX_UNTOLD_BYTES) return
      this.#pending.delete(oldest)
      this.#untoldBytes -= bytesOf(oldest)
    }
  }

  #written(name: string, stored: Stored): Buffer {
    return this.#signer.sign(name, encodeRecord(stored))
  }

  /** Null: there is nothing. What cannot be read was not written by a request that is still to be done. */
  #earlierIn(
    name: string,
    [ttl, value, exists]: readonly Reply[],
    fingerprint: string,
  ): PreviousOutcome | null {
    // GETRANGE knows no null.
    if (exists?.[1] === 0) return null
    const opened = Buffer.isBuffer(value?.[1]) ? this.#signer.open(name, value[1]) : null
    const stored = opened === null ? null : decodeRecord(opened)
    if (stored === null) return { state: 'unreadable' }
    if (stored.fingerprint !== fingerprint) return { state: 'reused' }
    if (stored.state === 'claimed') return { state: isUnderWay(stored, ttl) ? 'in progress' : 'unknown' }
    return stored.state === 'unknown' ? { state: 'unknown' } : stored
  }

  #nameOf(key: string): string {
    return this.#prefix + hash('sha256', key, 'base64url')
  }
}

/** Of the headers those that are kept go with it: a session that was opened then is not opened again. */
function keptOf({ answer, address }: Omit<Done, 'state'>): Done | NotKept {
  const { status, body } = answer
  const headers = storedHeadersOf(answer)
  const isKept = body.length <= MAX_KEPT_BYTES && isStoredHead({ status, headers }, body.length)
  return isKept
    ? { state: 'done', answer: { status, headers, body }, address }
    : { state: 'not kept', status }
}

/**
 * The time to live first: a record that ends between the two questions is then not taken for one without a value. Of what is
 * longer than a record, no more is read.
 */
function readRecord(pipeline: ChainableCommander, name: string): ChainableCommander {
  return pipeline
    .pttl(name)
    .getrangeBuffer(name, 0, SIGNATURE_BYTES + MAX_RECORD_BYTES)
    .exists(name)
}

/** A record that came between the two questions has no time to live yet (-2), one that is to stay for ever (-1) is nobody's. */
function isUnderWay({ keepMs, underWayMs }: Extract<Stored, { readonly state: 'claimed' }>, ttl?: Reply) {
  const leftMs = ttl?.[1]
  if (leftMs === -2) return true
  return typeof leftMs === 'number' && leftMs >= 0 && leftMs <= keepMs && keepMs - leftMs <= underWayMs
}

function bytesOf({ claimed, becomes }: Settlement): number {
  return claimed.length + (becomes?.length ?? 0)
}
