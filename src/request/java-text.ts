/** Trims a text as Java's `trim` does: it removes all characters up to U+0020, including control characters, but no other kind of space. */
export function javaTrim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) <= BLANK) start += 1
  while (end > start && text.charCodeAt(end - 1) <= BLANK) end -= 1
  return text.slice(start, end)
}

/** Returns whether the engine reads a boolean member as true, if its schema has accepted it. A flag counts only if it is true. */
export function isTrue(value: unknown): boolean {
  if (typeof value === 'string') return javaTrim(value).toLowerCase() === 'true'
  return value === true || (typeof value === 'number' && value !== 0)
}

/**
 * Splits a text as Java's `split` does. Empty parts at the end are dropped, so a separator alone gives an empty list, but an empty
 * text is one part.
 */
export function splitAt(text: string, separator: string): string[] {
  if (text === '') return ['']
  const parts = text.split(separator)
  while (parts.at(-1) === '') parts.pop()
  return parts
}

const BLANK = 0x20

/** The size of a new hash table of Java, and the share of it that is filled before its size doubles. */
const HASH_TABLE = { size: 16, load: 0.75 }

/** Sorts different keys as Java's `HashMap` lists them. Two keys in one place of the table stay in their order. */
export function hashOrder(keys: readonly string[]): readonly string[] {
  let { size } = HASH_TABLE
  while (keys.length > size * HASH_TABLE.load) size *= 2
  const placeOf = (key: string): number => {
    const hash = javaHash(key)
    return (hash ^ (hash >>> 16)) & (size - 1)
  }
  return keys.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** Returns the hash of a text, as Java's `hashCode`. */
function javaHash(text: string): number {
  let hash = 0
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(31, hash) + text.charCodeAt(at)) | 0
  return hash
}
