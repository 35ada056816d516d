/** As Java's `trim`: all up to the blank goes, control characters with it, and no blank of another kind. */
export function javaTrim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) <= BLANK) start += 1
  while (end > start && text.charCodeAt(end - 1) <= BLANK) end -= 1
  return text.slice(start, end)
}

/** As the engine reads a boolean member that its schema accepted: a flag counts only when it is true. */
export function isTrue(value: unknown): boolean {
  if (typeof value === 'string') return javaTrim(value).toLowerCase() === 'true'
  return value === true || (typeof value === 'number' && value !== 0)
}

/** As Java's `split`: empty parts at the end are dropped, so a separator alone is an empty list, but an empty text is one part. */
export function splitAt(text: string, separator: string): string[] {
  if (text === '') return ['']
  const parts = text.split(separator)
  while (parts.at(-1) === '') parts.pop()
  return parts
}

const BLANK = 0x20
