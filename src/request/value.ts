/** A JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A JSON object, or an array by its indexes. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** A text as it stands; null: the value is none. */
export function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** A member of a JSON object that is a text; null: there is none. */
export function stringIn(value: unknown, name: string): string | null {
  return isRecord(value) ? stringOf(value[name]) : null
}
