/** Runs `work` once after a time, unless the returned function is called before. */
export type Schedule = (work: () => void, ms: number) => () => void

/** A timer that does not keep the process alive. */
export const scheduleTimer: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms).unref()
  return () => clearTimeout(timer)
}

/** The state of a source, for probes and metrics. */
export interface SourceState {
  /** The current problem; null: none. */
  readonly problem: string | null
  /** Since the current content was read, or last found unchanged; null: nothing was ever read. */
  readonly ageMs: number | null
}
