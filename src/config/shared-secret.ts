import { z } from 'zod'

/** Minimum number of bytes of a shared secret, by signature algorithm: RFC 7518 section 3.2. */
export const SECRET_BYTES = { HS256: 32, HS384: 48, HS512: 64 } as const

/** The secret with which both sides create and verify signatures. */
export const sharedSecret = z
  .string()
  .refine((text) => secretBytesOf(text) >= SECRET_BYTES.HS256, 'at least 32 bytes in base64 are needed')
  .meta({ title: 'at least 32 bytes in base64' })

/** Returns the length of the secret, or zero if the text is not base64. Padding is optional, as for Java's decoder. */
export function secretBytesOf(text: string): number {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1
    ? Buffer.from(text, 'base64').length
    : 0
}
