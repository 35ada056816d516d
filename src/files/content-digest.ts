import { hash, subtle } from 'node:crypto'

/** A content of this size is hashed in less than a millisecond. */
const MAX_INLINE_BYTES = 256 * 1024

/** Returns the SHA-256 in hexadecimal digits, as `sha256sum` prints it. A long content is hashed in a thread of Node.js. */
export async function contentDigestOf(content: Buffer): Promise<string> {
  if (content.length <= MAX_INLINE_BYTES) return hash('sha256', content)
  return Buffer.from(await subtle.digest('SHA-256', new Uint8Array(content))).toString('hex')
}
