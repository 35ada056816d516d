import type { Problem } from './problems.ts'

/** A problem with the time at which it was first observed, in milliseconds since 1970. */
export interface DatedProblem extends Problem {
  readonly sinceMs: number
}

/**
 * Creates a function that adds to each problem since when it exists without interruption. Call it repeatedly: a problem that is
 * missing in one call begins again. Numbers in the text may change: a problem is identified by its other words.
 */
export function createProblemTimes(
  now: () => number = Date.now,
): (problems: readonly Problem[]) => readonly DatedProblem[] {
  let times: ReadonlyMap<string, number> = new Map()
  return function dateProblems(problems) {
    const nowMs = now()
    const dated = problems.map((problem) => ({ ...problem, sinceMs: times.get(keyOf(problem)) ?? nowMs }))
    times = new Map(dated.map((problem) => [keyOf(problem), problem.sinceMs]))
    return dated
  }
}

function keyOf({ text, runbook }: Problem): string {
  const [subject = ''] = text.split(': ', 1)
  return runbook === null ? text : `${runbook} ${subject}`
}
