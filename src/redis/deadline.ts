interface DeadlineOptions {
  /** Returns a number that changes while data arrives; default: never. */
  readonly progress?: () => number
  readonly onMissed: () => void
}

/** Maximum number of further turns of the event loop for a response that is still arriving. */
const MAX_TURNS = 20

/**
 * Calls `onMissed` after `ms` and a turn of the event loop in which sockets were read. Timers run before pending I/O, so if this
 * process was late, the response may already be in the socket. A long response takes several turns, so it may continue as long as
 * data arrives in each. Returns a function that cancels the deadline.
 */
export function startDeadline(ms: number, { progress = () => 0, onMissed }: DeadlineOptions): () => void {
  let isCancelled = false
  const check = (before: number, turns: number): void => {
    setImmediate(() => {
      if (isCancelled) return
      const now = progress()
      if (now === before || turns === 0) onMissed()
      else check(now, turns - 1)
    })
  }
  const timer = setTimeout(() => check(progress(), MAX_TURNS), ms)
  return () => {
    isCancelled = true
    clearTimeout(timer)
  }
}
