interface DeadlineOptions {
  /** Changes as long as the other side is heard; default: never. */
  readonly heard?: () => number
  readonly onMissed: () => void
}

/** Further turns for an answer that is on its way. */
const MAX_TURNS = 20

/**
 * Calls `onMissed` after `ms` and a turn of the event loop in which sockets were read: timers come before what the system
 * has to say, and where it was this process that was late, the answer may stand in the socket. A long answer takes
 * several turns: as long as something of it is heard in each, it is waited for. Returns what calls it off.
 */
export function startDeadline(ms: number, { heard = () => 0, onMissed }: DeadlineOptions): () => void {
  let isOver = false
  const look = (before: number, turns: number): void => {
    setImmediate(() => {
      if (isOver) return
      const now = heard()
      if (now === before || turns === 0) onMissed()
      else look(now, turns - 1)
    })
  }
  const timer = setTimeout(() => look(heard(), MAX_TURNS), ms)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
