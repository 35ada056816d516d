import { keyPrefixOf } from './key-prefix.ts'
import { RedisLink, type SharedStateOptions } from './redis-link.ts'
import { SIGNATURE_BYTES, type Signer } from './signature.ts'

interface SharedValuesOptions extends SharedStateOptions {
  readonly signer: Signer
  /** Called when the connection is established, for the first time or again. */
  readonly onReady: () => void
}

/** Short texts that all gateways with the same Redis can read and replace, by name. */
export interface SharedValues {
  /**
   * Resolves with `null` if there is no value, with `unsigned` if no key has signed it, and with `unavailable` if Redis does not respond.
   * Never rejects.
   */
  readonly read: (name: string) => Promise<{ readonly text: string } | 'unsigned' | 'unavailable' | null>
  /** Redis keeps the value for `keepMs` milliseconds. Resolves with whether Redis has the value. Never rejects. */
  readonly write: (name: string, text: string, keepMs: number) => Promise<boolean>
  readonly close: () => void
}

const MAX_BYTES = 4096

export function createSharedValues(options: SharedValuesOptions): SharedValues {
  const { redis, namespace, signer, now, onReady } = options
  const prefix = `${keyPrefixOf(redis, namespace)}value:`
  const link = new RedisLink({ redis, prefix, now, onReady })
  return {
    read: async (name) => {
      const key = prefix + name
      // At most the length that a gateway writes is read.
      const replies = await link.run([['getrangeBuffer', key, 0, SIGNATURE_BYTES + MAX_BYTES]])
      if (typeof replies === 'string') return 'unavailable'
      const value = replies[0]?.[1]
      if (!Buffer.isBuffer(value) || value.length === 0) return null
      const opened = signer.open(key, value)
      return opened === null ? 'unsigned' : { text: opened.toString() }
    },
    write: async (name, text, keepMs) => {
      const key = prefix + name
      const value = Buffer.from(text)
      if (value.length > MAX_BYTES) return false
      const replies = await link.run([['set', key, signer.sign(key, value), 'PX', keepMs]])
      return typeof replies !== 'string' && replies[0]?.[0] === null
    },
    close: () => link.close(),
  }
}
