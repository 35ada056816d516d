/*
 * The two parts of a request's target. The first question mark ends the path; all that follow belong to the query.
 */

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
