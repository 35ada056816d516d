import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

/** The part of a content that is hashed between two pauses. It takes about a millisecond. */
const PIECE_BYTES = 1024 ** 2

/**
 * Returns the SHA-256 in hexadecimal digits, as `sha256sum` prints it. A long content is hashed with pauses. A thread of Node.js would
 * need a copy of the content, and 64 MiB are copied in a tenth of a second.
 */
export async function contentDigestOf(content: Buffer): Promise<string> {
  const digest = createHash('sha256')
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    if (at > 0) await setImmediate()
    digest.update(content.subarray(at, at + PIECE_BYTES))
  }
  return digest.digest('hex')
}
