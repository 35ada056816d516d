import { GatewayError } from '../../errors.ts'

/** The origin and the precedence of work that waits. */
export interface VerificationOrigin {
  /** The origin of the attempt. Attempts of one origin wait for each other, but not for attempts of other origins. */
  readonly from: string
  /** True if the credential was correct before. It has precedence over all guesses. There are no more such attempts than credentials. */
  readonly proven: boolean
  /** True if no request waits for the result. Such work begins after all other work, in at most half of the places. Default: false. */
  readonly inBackground?: boolean
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
  const maxInBackground = Math.max(1, Math.floor(places / 2))
  const proven: QueuedVerification[] = []
  const background: QueuedVerification[] = []
  const origins = new Map<string, QueuedVerification[]>() // in the order of their turns, without empty lists
  let waiting = 0
  let busy = 0
  let busyInBackground = 0
  return async function limited<T>(work: () => Promise<T>, claim = ANYBODY): Promise<T> {
    const { inBackground = false } = claim
    if (hasPlace(inBackground)) occupy(inBackground, 1)
    else await place(claim)
    try {
      return await work()
    } finally {
      occupy(inBackground, -1)
      startNext()
    }
  }

  function hasPlace(inBackground: boolean): boolean {
    return busy < places && (!inBackground || busyInBackground < maxInBackground)
  }

  function occupy(inBackground: boolean, count: 1 | -1): void {
    busy += count
    if (inBackground) busyInBackground += count
  }

  function place(claim: VerificationOrigin): Promise<void> {
    if (waiting >= maxQueued) makeRoom(claim)
    const queue = queueOf(claim)
    waiting += 1
    return new Promise((resolve, reject) => {
      queue.push({ start: resolve, refuse: reject })
    })
  }

  function queueOf({ from, proven: isProven, inBackground = false }: VerificationOrigin) {
    if (inBackground) return background
    if (isProven) return proven
    const queue = origins.get(from) ?? []
    origins.set(from, queue)
    return queue
  }

  function startNext(): void {
    const waiter = proven.shift() ?? nextGuess()
    const next = waiter ?? (hasPlace(true) ? background.shift() : undefined)
    if (next === undefined) return
    waiting -= 1
    occupy(waiter === undefined, 1)
    next.start()
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

  /**
   * Refuses the last waiter in the background, or else of the longest queue. @throws GatewayError GW_OVERLOADED if the new waiter is in
   * the background, or no queue is longer than its own would be
   */
  function makeRoom(claim: VerificationOrigin): void {
    const overloaded = new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 1 })
    const last = claim.inBackground === true ? undefined : (background.pop() ?? lastOfLongest(claim))
    if (last === undefined) throw overloaded
    waiting -= 1
    last.refuse(overloaded)
  }

  /** Removes the last waiter of the longest queue of guesses, if that queue is longer than the new waiter's would be. */
  function lastOfLongest({ from: origin, proven: isProven }: VerificationOrigin) {
    const ownCount = isProven ? -1 : (origins.get(origin)?.length ?? 0)
    const [longest] = [...origins].sort(([, one], [, other]) => other.length - one.length)
    const [from, queue] = longest ?? []
    if (from === undefined || queue === undefined || queue.length <= ownCount + 1) return undefined
    const last = queue.pop()
    if (queue.length === 0) origins.delete(from)
    return last
  }
}
