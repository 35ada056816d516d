/** Returns whether a value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns whether a value is a JSON object or array. The members of an array are its indexes. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Returns the value of a text in JSON, or undefined if the text is not JSON. */
export function jsonValueOf(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
}

/** Returns a text unchanged, or null for any other value. */
export function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Returns a text member of a JSON object. Null if it is not a text. */
export function stringIn(value: unknown, name: string): string | null {
  return isRecord(value) ? stringOf(value[name]) : null
}
