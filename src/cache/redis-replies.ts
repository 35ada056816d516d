import { unseal } from './envelope.ts'
import type { Sealed } from './envelope.ts'
import { codeOf } from './redis-link.ts'
import type { Reply } from './redis-link.ts'

/** The entry in the replies to GET and PTTL; `null`: none. */
export function foundIn(
  [value, ttl]: readonly Reply[],
  key: string,
): (Sealed & { readonly ttlMs: number }) | 'corrupt' | null {
  if (value?.[0]) return codeOf(value[0]) === 'WRONGTYPE' ? 'corrupt' : null
  const bytes = value?.[1]
  if (!Buffer.isBuffer(bytes)) return null
  const sealed = unseal(key, bytes)
  const ttlMs = Number(ttl?.[1])
  // No time to live (-1), or more than it was given: not this gateway's doing. It may also end right now (-2).
  if (sealed === null || ttlMs === -1 || ttlMs > sealed.seconds * 1000) return 'corrupt'
  return ttlMs > 0 ? { ...sealed, ttlMs } : null
}

/** The reply to MGET in one string; `null` when a tag has no token. */
export function tokensOf(reply: Reply | undefined): string | null {
  const tokens = reply?.[1]
  if (!Array.isArray(tokens) || tokens.some((token) => typeof token !== 'string')) return null
  return tokens.join(' ')
}

/** What another replica published; `null` for anything else. */
export function messageOf(text: string): { readonly from: string; readonly tags: readonly string[] } | null {
  try {
    const message: unknown = JSON.parse(text)
    if (typeof message !== 'object' || message === null || !('from' in message) || !('tags' in message))
      return null
    const { from, tags } = message
    if (typeof from !== 'string' || !Array.isArray(tags)) return null
    return { from, tags: tags.filter((tag) => typeof tag === 'string') }
  } catch {
    return null
  }
}
