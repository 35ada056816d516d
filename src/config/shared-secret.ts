import { z } from 'zod'

/** The least bytes of a shared secret by the algorithm of a signature: RFC 7518 section 3.2. */
export const SECRET_BYTES = { HS256: 32, HS384: 48, HS512: 64 } as const

/** The secret of signatures that both sides make and verify with it. */
export const sharedSecret = z
  .string()
  .refine((text) => secretBytesOf(text) >= SECRET_BYTES.HS256, 'at least 32 bytes in base64 are needed')
  .meta({ title: 'at least 32 bytes in base64' })

/** Zero: it is no base64. Java's decoder takes it without padding, too. */
export function secretBytesOf(text: string): number {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1
    ? Buffer.from(text, 'base64').length
    : 0
}
