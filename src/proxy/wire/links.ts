const OPENING = '"href":"'
const ENDS: ReadonlySet<number> = new Set(Buffer.from('/?#"'))

/**
 * Replaces `from` by `to` at the start of links: `"href":"<from>/task/x"` becomes `"href":"<to>/task/x"`. The function works on
 * bytes, so numbers keep their digits. Quotes inside a JSON string are escaped, so a string that contains text like a link is
 * not changed.
 */
export function rewriteLinks(body: Buffer, from: string, to: string): Buffer {
  if (from === '' || from === to) return body
  const pattern = Buffer.from(OPENING + from)
  const chunks: Buffer[] = []
  let copiedTo = 0
  for (let at = body.indexOf(pattern); at !== -1; at = body.indexOf(pattern, at + pattern.length)) {
    const end = at + pattern.length
    if (!from.endsWith('/') && !ENDS.has(body[end] ?? 0)) continue // `/engine-rest2` does not start with `/engine-rest`
    chunks.push(body.subarray(copiedTo, at + OPENING.length), Buffer.from(to))
    copiedTo = end
  }
  if (copiedTo === 0) return body
  return Buffer.concat([...chunks, body.subarray(copiedTo)])
}
