/** The parts of a shared read that determine the engine's response. */
export interface KeyParts {
  readonly engine: string
  readonly template: string
  /** The decoded path parameters, in the order of the template. */
  readonly params: Readonly<Record<string, string>>
  /** The query string as received, without `?`. Empty if the target has no query. */
  readonly query: string
  readonly accept: string | undefined
}

/** Returns the key of a cache entry. Requests with the same key are equivalent. Equivalent requests with different texts may have two keys. */
export function cacheKeyOf({ engine, template, params, query, accept }: KeyParts): string {
  return JSON.stringify([engine, template, params, sortedQueryOf(query), accept ?? null])
}

/**
 * Sorts parameters by name. Keeps the order of equal names, because the engine uses the first one. Nothing is decoded, because of
 * `+` and invalid UTF-8. A name that is written with `%` or `+` could be equal to another name, so such a query keeps its order.
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
