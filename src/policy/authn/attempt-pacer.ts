import { throttled } from './throttled.ts'
import { type Schedule, scheduleTimer } from '../../files/source-state.ts'

export interface AttemptPacerOptions {
  /** The number of attempts of one user at one address that may wait. Default: 25. */
  readonly maxOfUser?: number
  /** The number of attempts at one address that may wait. Default: 200. */
  readonly maxOfAddress?: number
  /** The total number of attempts that may wait. Default: 1,024. */
  readonly maxWaiting?: number
  /** The monotonic clock, in milliseconds. Default: performance.now. */
  readonly now?: () => number
  readonly schedule?: Schedule
}

/** The time from this turn to the next one, for the user and for the address. 0 if the attempt needs no turn there. */
export interface AttemptSpacing {
  readonly ofUserMs: number
  readonly ofAddressMs: number
}

export interface AttemptOrigin {
  readonly address: string
  readonly user: string
}

export interface AttemptPacer {
  /**
   * Resolves when the turn begins, to a function that gives the turn back. Call that function if the attempt was not a guess. Users
   * of one address take turns one after another, regardless of the number of their waiting attempts.
   * @throws GatewayError GW_THROTTLED if too many attempts wait
   */
  readonly take: (who: AttemptOrigin, spacing: AttemptSpacing) => Promise<() => void>
}

interface PacedAttempt {
  readonly spacing: AttemptSpacing
  readonly begin: (release: () => void) => void
  readonly refuse: (error: Error) => void
}

interface UserQueue {
  nextAt: number
  readonly waiting: PacedAttempt[]
}

interface AddressQueue {
  readonly address: string
  nextAt: number
  /** The users in the order of their turns. */
  readonly users: Map<string, UserQueue>
  waiting: number
  cancel: (() => void) | null
}

/** Creates a queue that spreads attempts over time, so that their rate is bounded without a refusal of attempts that wait. */
export function createAttemptPacer(options: AttemptPacerOptions = {}): AttemptPacer {
  const { maxOfUser = 25, maxOfAddress = 200, maxWaiting = 1024 } = options
  const { now = () => performance.now(), schedule = scheduleTimer } = options
  const queues = new Map<string, AddressQueue>() // bounded: each has a waiting attempt, or had a turn less than one spacing ago
  let waiting = 0

  function forget(queue: AddressQueue, count: number): void {
    queue.waiting -= count
    waiting -= count
  }

  /** Refuses the last attempt of the user with the most waiting attempts. Throws if no user has more of them than this user would have. */
  function makeRoom(queue: AddressQueue, own: UserQueue): void {
    if (own.waiting.length >= maxOfUser) throw throttled(1_000)
    if (queue.waiting < maxOfAddress && waiting < maxWaiting) return
    const [longest] = [...queue.users.values()].sort(
      (one, other) => other.waiting.length - one.waiting.length,
    )
    const last =
      longest !== undefined && longest.waiting.length > own.waiting.length + 1
        ? longest.waiting.pop()
        : undefined
    if (last === undefined) throw throttled(1_000)
    forget(queue, 1)
    last.refuse(throttled(1_000))
  }

  /** Returns the first user whose turn is due, or null. */
  function nextOf(queue: AddressQueue, at: number): readonly [string, UserQueue] | null {
    for (const [user, own] of queue.users) {
      const [first] = own.waiting
      if (first !== undefined && dueAt(queue, own, first) <= at) return [user, own]
    }
    return null
  }

  function begin(queue: AddressQueue, user: string, own: UserQueue): void {
    const waiter = own.waiting.shift()
    if (waiter === undefined) return
    forget(queue, 1)
    const { ofUserMs, ofAddressMs } = waiter.spacing
    own.nextAt = Math.max(own.nextAt, now() + ofUserMs)
    if (ofAddressMs > 0) queue.nextAt = now() + ofAddressMs
    queue.users.delete(user)
    queue.users.set(user, own)
    const mine = { user: own.nextAt, address: queue.nextAt }
    waiter.begin(() => {
      // The times are only reset if no later turn has changed them.
      if (ofUserMs > 0 && own.nextAt === mine.user) own.nextAt = now()
      if (ofAddressMs > 0 && queue.nextAt === mine.address) queue.nextAt = now()
      serve(queue)
    })
  }

  function serve(queue: AddressQueue): void {
    queue.cancel?.()
    queue.cancel = null
    for (let next = nextOf(queue, now()); next !== null; next = nextOf(queue, now())) begin(queue, ...next)
    const at = now()
    for (const [user, own] of queue.users)
      if (own.waiting.length === 0 && own.nextAt <= at) queue.users.delete(user)
    const due = [...queue.users.values()].map((own) => dueAt(queue, own, own.waiting[0]))
    if (queue.nextAt > at) due.push(queue.nextAt)
    if (due.length > 0)
      queue.cancel = schedule(() => serve(queue), Math.max(1, Math.ceil(Math.min(...due) - at)))
    else if (queues.get(queue.address) === queue) queues.delete(queue.address)
  }

  return {
    take: ({ address, user }, spacing) =>
      new Promise((resolve, reject) => {
        const queue = queues.get(address) ?? {
          address,
          nextAt: 0,
          users: new Map(),
          waiting: 0,
          cancel: null,
        }
        const own = queue.users.get(user) ?? { nextAt: 0, waiting: [] }
        makeRoom(queue, own)
        queues.set(address, queue)
        queue.users.set(user, own)
        own.waiting.push({ spacing, begin: resolve, refuse: reject })
        queue.waiting += 1
        waiting += 1
        serve(queue)
      }),
  }
}

function dueAt(queue: AddressQueue, own: UserQueue, waiter: PacedAttempt | undefined): number {
  return waiter !== undefined && waiter.spacing.ofAddressMs > 0
    ? Math.max(own.nextAt, queue.nextAt)
    : own.nextAt
}
