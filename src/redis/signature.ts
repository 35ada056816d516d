import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'

/** Signs values in Redis, to prove that a gateway with one of the keys wrote them. */
export interface Signer {
  /** Returns the signed value. `context` is its place in Redis; the signature is valid only there. */
  readonly sign: (context: string, value: Buffer) => Buffer
  /** Returns the value that was signed for this place, or null if no key has signed it. */
  readonly open: (context: string, signed: Buffer) => Buffer | null
  /** False without keys: values are then stored and accepted unsigned. */
  readonly signs: boolean
}

/** Bytes that a signature adds to a value. */
export const SIGNATURE_BYTES = 32

/**
 * Creates a signer. The first key signs, and signatures of any key are accepted, so that keys can be rotated while gateways run.
 */
export function createSigner(keys: readonly string[]): Signer {
  const [first, ...others] = keys.map((key) => createSecretKey(Buffer.from(key)))
  if (first === undefined) return { sign: (_, value) => value, open: (_, value) => value, signs: false }
  const macOf = (key: typeof first, context: string, value: Buffer): Buffer =>
    createHmac('sha256', key).update(`${context}\n`).update(value).digest()
  return {
    sign: (context, value) => Buffer.concat([macOf(first, context, value), value]),
    open: (context, signed) => {
      if (signed.length < SIGNATURE_BYTES) return null
      const mac = signed.subarray(0, SIGNATURE_BYTES)
      const value = signed.subarray(SIGNATURE_BYTES)
      const isSigned = [first, ...others].some((key) => timingSafeEqual(macOf(key, context, value), mac))
      return isSigned ? value : null
    },
    signs: true,
  }
}
