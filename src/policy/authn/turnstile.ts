import { GatewayError } from '../../errors.ts'

/** Who wants a place. */
export interface TurnstileClaim {
  /** The origin of the attempt: attempts of one origin wait for each other, not for those of other origins. */
  readonly from: string
  /** The credential was correct before: it has precedence over all guesses. There are no more of them than credentials. */
  readonly proven: boolean
}

/** Runs the work when there is a place. @throws GatewayError GW_OVERLOADED if too many wait */
export type Turnstile = <T>(work: () => Promise<T>, claim?: TurnstileClaim) => Promise<T>

interface Waiter {
  readonly enter: () => void
  readonly refuse: (error: Error) => void
}

const ANYBODY: TurnstileClaim = { from: '', proven: false }

/** A semaphore with round robin by origin: no origin keeps the others waiting. */
export function createTurnstile(places: number, maxQueued: number): Turnstile {
  const proven: Waiter[] = []
  const origins = new Map<string, Waiter[]>() // in the order of their turns, none is empty
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
      else next.enter()
    }
  }

  function place({ from, proven: isProven }: TurnstileClaim): Promise<void> {
    if (waiting >= maxQueued) makeRoom(isProven ? -1 : (origins.get(from)?.length ?? 0))
    const queue = isProven ? proven : (origins.get(from) ?? [])
    if (!isProven) origins.set(from, queue)
    waiting += 1
    return new Promise((resolve, reject) => {
      queue.push({ enter: resolve, refuse: reject })
    })
  }

  function nextWaiter(): Waiter | undefined {
    const next = proven.shift() ?? nextGuess()
    if (next !== undefined) waiting -= 1
    return next
  }

  function nextGuess(): Waiter | undefined {
    const [turn] = origins
    if (turn === undefined) return undefined
    const [from, queue] = turn
    const next = queue.shift()
    origins.delete(from)
    if (queue.length > 0) origins.set(from, queue)
    return next
  }

  /** Removes the last waiter of the longest queue; if that is the newcomer's, refuses the newcomer. @throws GatewayError GW_OVERLOADED */
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
