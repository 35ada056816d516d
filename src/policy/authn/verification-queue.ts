import { GatewayError } from '../../errors.ts'

/** The origin and the precedence of work that waits. */
export interface VerificationOrigin {
  /** The origin of the attempt. Attempts of one origin wait for each other, but not for attempts of other origins. */
  readonly from: string
  /** True if the credential was correct before. It has precedence over all guesses. There are no more such attempts than credentials. */
  readonly proven: boolean
}

/** Runs the work when a place is free. @throws GatewayError GW_OVERLOADED if too many wait */
export type VerificationQueue = <T>(work: () => Promise<T>, claim?: VerificationOrigin) => Promise<T>

interface QueuedVerification {
  readonly start: () => void
  readonly refuse: (error: Error) => void
}

const ANYBODY: VerificationOrigin = { from: '', proven: false }

/** Creates a semaphore that serves origins round robin, so that no origin can block the others. */
export function createVerificationQueue(places: number, maxQueued: number): VerificationQueue {
  const proven: QueuedVerification[] = []
  const origins = new Map<string, QueuedVerification[]>() // in the order of their turns, without empty lists
  let waiting = 0
  let busy = 0
  return async function limited<T>(work: () => Promise<T>, claim = ANYBODY): Promise<T> {
    if (busy < places) busy += 1
    else await place(claim)
    try {
      return await work()
    } finally {
      const next = nextWaiter()
      if (next === undefined) busy -= 1
      else next.start()
    }
  }

  function place({ from, proven: isProven }: VerificationOrigin): Promise<void> {
    if (waiting >= maxQueued) makeRoom(isProven ? -1 : (origins.get(from)?.length ?? 0))
    const queue = isProven ? proven : (origins.get(from) ?? [])
    if (!isProven) origins.set(from, queue)
    waiting += 1
    return new Promise((resolve, reject) => {
      queue.push({ start: resolve, refuse: reject })
    })
  }

  function nextWaiter(): QueuedVerification | undefined {
    const next = proven.shift() ?? nextGuess()
    if (next !== undefined) waiting -= 1
    return next
  }

  function nextGuess(): QueuedVerification | undefined {
    const [turn] = origins
    if (turn === undefined) return undefined
    const [from, queue] = turn
    const next = queue.shift()
    origins.delete(from)
    if (queue.length > 0) origins.set(from, queue)
    return next
  }

  /** Refuses the last waiter of the longest queue. @throws GatewayError GW_OVERLOADED if no queue is longer than the new waiter's would be */
  function makeRoom(ownCount: number): void {
    const overloaded = new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 1 })
    const [longest] = [...origins].sort(([, one], [, other]) => other.length - one.length)
    const [from, queue] = longest ?? []
    const last = queue !== undefined && queue.length > ownCount + 1 ? queue.pop() : undefined
    if (last === undefined || from === undefined) throw overloaded
    if (queue?.length === 0) origins.delete(from)
    waiting -= 1
    last.refuse(overloaded)
  }
}
