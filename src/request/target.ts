/*
 * The two parts of a request's target. The first question mark ends the path; all that follow belong to the query.
 */

export interface NamedTarget {
  /** As the path names it, decoded. */
  readonly engine: string
  /** The same path for the default engine, and the query. Unchanged where no engine's name may stand before it. */
  readonly target: string
}

const NAMED = /^\/engine\/([^/?]+)(\/[^/?].*)$/
/** The list of all engines. */
const LIST = /^\/engine(?:\?|$)/

/** `{basePath}/engine/NAME/task` taken apart; null: the path names no engine. */
export function namedTargetOf(target: string, basePath: string): NamedTarget | null {
  if (!target.startsWith(`${basePath}/engine/`)) return null
  const [, name = '', below = ''] = NAMED.exec(target.slice(basePath.length)) ?? []
  const engine = decoded(name)
  if (below === '' || engine === null) return null
  return { engine, target: LIST.test(below) ? target : basePath + below }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** The path of a target, without its query. */
export function targetPathOf(target: string): string {
  const mark = target.indexOf('?')
  return mark < 0 ? target : target.slice(0, mark)
}

/** The query of a target with its question mark; empty without one. */
export function targetSearchOf(target: string): string {
  const mark = target.indexOf('?')
  return mark < 0 ? '' : target.slice(mark)
}

/** The query of a target without its question mark; empty without one. */
export function targetQueryOf(target: string): string {
  return targetSearchOf(target).slice(1)
}
