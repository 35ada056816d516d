import type { Facts } from './lookup.ts'
import type { Principal } from './credentials.ts'

/** What a decision may look at: the caller and the parsed copy of the request. */
export interface Asked {
  readonly principal: Principal
  readonly params: Readonly<Record<string, string>>
  /** Decoded; of a repeated parameter the first, as the engine has it. */
  readonly query: ReadonlyMap<string, string>
  readonly body: unknown
}

/** A JSON object, or an array by its indexes. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** A member of a body by its dotted path, as text; numbers and booleans as they print. Null: absent or null. */
export function bodyText(body: unknown, path: string): string | null {
  const value = bodyValue(body, path)
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? `${value}`
      : null
}

/** A member of a body by its dotted path. */
export function bodyValue(body: unknown, path: string): unknown {
  let value: unknown = body
  for (const name of path.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** The ids a list of the request names: a JSON array, or a comma-separated query parameter. */
export function listOf({ body, query }: Asked, from: string, name: string): readonly Facts[] {
  const value = from === 'query' ? (query.get(name)?.split(',') ?? []) : bodyValue(body, name)
  if (!Array.isArray(value)) return []
  return value.filter((id) => typeof id === 'string').map((id) => ({ id }))
}
