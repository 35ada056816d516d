/** Everything that decides what an engine answers to a shared read. */
export interface KeyParts {
  readonly engine: string
  readonly template: string
  /** Decoded path parameters, in the template's order. */
  readonly params: Readonly<Record<string, string>>
  /** As received, without `?`; `''` when there is none. */
  readonly query: string
  readonly accept: string | undefined
}

/** The entry's key. Requests with the same key have the same meaning; a meaning that can be written in two ways may have two keys. */
export function cacheKeyOf({ engine, template, params, query, accept }: KeyParts): string {
  return JSON.stringify([engine, template, params, sortedQueryOf(query), accept ?? null])
}

/**
 * Sorts parameters by name and keeps the order of equal names: the engine takes the first. Nothing is decoded (`+`, bad
 * UTF-8). Names written with `%` or `+` could equal another name, so such a query keeps its order.
 */
export function sortedQueryOf(query: string): string {
  if (!query.includes('&')) return query
  const pairs = query.split('&').map((pair) => ({ name: nameOf(pair), pair }))
  if (pairs.some(({ name }) => /[%+]/.test(name))) return query
  return pairs
    .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
    .map(({ pair }) => pair)
    .join('&')
}

function nameOf(pair: string): string {
  const end = pair.indexOf('=')
  return end === -1 ? pair : pair.slice(0, end)
}
