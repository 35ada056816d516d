/** Runs `work` once after a time, unless what it returns is called before. */
export type Schedule = (work: () => void, ms: number) => () => void

/** A timer that does not keep the process alive. */
export const scheduleTimer: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms).unref()
  return () => clearTimeout(timer)
}

/** How a source is, for probes and metrics. */
export interface SourceState {
  /** What is wrong with it now; null: nothing. */
  readonly problem: string | null
  /** Since what is in force was read, or was last seen to be still the same; null: nothing was ever read. */
  readonly ageMs: number | null
}

/** What is wrong, in one line and without the value that is wrong: it may be a secret. */
export function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
