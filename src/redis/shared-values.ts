import { keyPrefixOf } from './key-prefix.ts'
import { RedisLink, type SharedStateOptions } from './redis-link.ts'
import { SIGNATURE_BYTES, type Signer } from './signature.ts'

export interface SharedValuesOptions extends SharedStateOptions {
  readonly signer: Signer
  /** Called when the connection is established, for the first time or again. */
  readonly onReady: () => void
  /** Called when no connection could be established, or the connection is lost. */
  readonly onAway: () => void
}

interface SharedValue {
  /** Null if no key has signed the value. */
  readonly text: string | null
  /** What Redis stores. */
  readonly stored: Buffer
}

/** Short texts that all gateways with the same Redis can read and replace, by name. */
export interface SharedValues {
  /** Resolves with `null` if there is no value, and with `unavailable` if Redis does not respond. Never rejects. */
  readonly read: (name: string) => Promise<SharedValue | 'unavailable' | null>
  /**
   * Replaces a value that was read, unless another process has changed it since then. `previous` is null if there was no value. Redis
   * keeps the new value for `keepMs` milliseconds. Never rejects.
   */
  readonly replace: (
    name: string,
    previous: SharedValue | null,
    next: { readonly text: string; readonly keepMs: number },
  ) => Promise<'replaced' | 'changed' | 'unavailable'>
  readonly close: () => void
}

const MAX_BYTES = 4096
/** The last byte that is read of a value. At most the length that a gateway writes is read. */
const LAST_BYTE = SIGNATURE_BYTES + MAX_BYTES

// A value that does not exist reads as an empty one.
const REPLACE = `if redis.call('GETRANGE', KEYS[1], 0, ${LAST_BYTE}) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`

const NONE = Buffer.alloc(0)

export function createSharedValues(options: SharedValuesOptions): SharedValues {
  const { redis, namespace, signer, now, onReady, onAway } = options
  const prefix = `${keyPrefixOf(redis, namespace)}value:`
  const link = new RedisLink({ redis, prefix, now, onReady, onAway })
  return {
    read: async (name) => {
      const key = prefix + name
      const replies = await link.run([['getrangeBuffer', key, 0, LAST_BYTE]])
      const stored = typeof replies === 'string' ? undefined : replies[0]?.[1]
      if (!Buffer.isBuffer(stored)) return 'unavailable'
      return stored.length === 0 ? null : { text: signer.open(key, stored)?.toString() ?? null, stored }
    },
    replace: async (name, previous, { text, keepMs }) => {
      const key = prefix + name
      const value = Buffer.from(text)
      if (value.length > MAX_BYTES) return 'unavailable'
      const replies = await link.run([
        ['eval', REPLACE, 1, key, previous?.stored ?? NONE, signer.sign(key, value), keepMs],
      ])
      const reply = typeof replies === 'string' ? undefined : replies[0]?.[1]
      if (typeof reply !== 'number') return 'unavailable'
      return reply === 1 ? 'replaced' : 'changed'
    },
    close: () => link.close(),
  }
}
