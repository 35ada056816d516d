/** Runs `work` once after a time, unless the returned function is called first. */
export type Schedule = (work: () => void, ms: number) => () => void

/** Starts a timer that does not keep the process alive. */
export const scheduleTimer: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms).unref()
  return () => clearTimeout(timer)
}

/** The state of a source, for probes and metrics. */
export interface SourceState {
  /** The current problem. Null if the source has no problem. */
  readonly problem: string | null
  /** Time since the current content was read, or last found unchanged. Null if it was never read. */
  readonly ageMs: number | null
}
