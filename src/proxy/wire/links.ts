const OPENING = '"href":"'
const ENDS: ReadonlySet<number> = new Set(Buffer.from('/?#"'))

/**
 * Puts `to` where a link starts with `from`: `"href":"<from>/task/x"` becomes `"href":"<to>/task/x"`. Works on the bytes,
 * so numbers keep their digits; inside a JSON string the quotes are escaped, so text that looks like a link is left alone.
 */
export function rewriteLinks(body: Buffer, from: string, to: string): Buffer {
  if (from === '' || from === to) return body
  const wanted = Buffer.from(OPENING + from)
  const parts: Buffer[] = []
  let kept = 0
  for (let at = body.indexOf(wanted); at !== -1; at = body.indexOf(wanted, at + wanted.length)) {
    const end = at + wanted.length
    if (!from.endsWith('/') && !ENDS.has(body[end] ?? 0)) continue // `/engine-rest2` does not start with `/engine-rest`
    parts.push(body.subarray(kept, at + OPENING.length), Buffer.from(to))
    kept = end
  }
  if (kept === 0) return body
  return Buffer.concat([...parts, body.subarray(kept)])
}
