/*
 * The two parts of the target of a request. The first question mark ends the path. All further question marks belong to the query.
 */

export interface NamedTarget {
  /** The decoded name in the path. */
  readonly engine: string
  /** The path for the default engine, with the query. Unchanged if no engine's name may precede the path. */
  readonly target: string
}

const NAMED = /^\/engine\/([^/?]+)(\/[^/?].*)$/
/** Matches the list of all engines. */
const LIST = /^\/engine(?:\?|$)/

/** Parses `{basePath}/engine/NAME/task`. Null if the path names no engine. */
export function namedTargetOf(target: string, basePath: string): NamedTarget | null {
  if (!target.startsWith(`${basePath}/engine/`)) return null
  const [, name = '', below = ''] = NAMED.exec(target.slice(basePath.length)) ?? []
  const engine = decodedPart(name)
  if (below === '' || engine === null) return null
  return { engine, target: LIST.test(below) ? target : basePath + below }
}

/** Returns a decoded part of a target. Null if it has a malformed escape, or bytes that are not UTF-8. */
export function decodedPart(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Returns the path of a target, without its query. */
export function targetPathOf(target: string): string {
  const mark = target.indexOf('?')
  return mark < 0 ? target : target.slice(0, mark)
}

/** Returns the query of a target with its question mark. Empty without a query. */
export function targetSearchOf(target: string): string {
  const mark = target.indexOf('?')
  return mark < 0 ? '' : target.slice(mark)
}

/** Returns the query of a target without its question mark. Empty without a query. */
export function targetQueryOf(target: string): string {
  return targetSearchOf(target).slice(1)
}

/**
 * Returns a query, with its question mark, in which a parameter has this value and no other one. All other parameters stay as they
 * are. `name` and `value` need no encoding.
 */
export function withParameter(search: string, name: string, value: string): string {
  return `?${[...pairsWithout(search, name), `${name}=${value}`].join('&')}`
}

/** Returns a query, with its question mark, without a parameter. All other parameters stay as they are. Empty if none is left. */
export function withoutParameter(search: string, name: string): string {
  const others = pairsWithout(search, name)
  return others.length === 0 ? '' : `?${others.join('&')}`
}

function pairsWithout(search: string, name: string): readonly string[] {
  // The ampersand keeps a question mark that belongs to a name: `URLSearchParams` drops one at the start of a text.
  return search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !new URLSearchParams(`&${pair}`).has(name))
}
