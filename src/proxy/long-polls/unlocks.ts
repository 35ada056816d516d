import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { Answer } from '../../request/answer.ts'

/** `failed`: the engine did not do it. `dropped`: too many at once, or the lock is over. Its lock then ends by itself. */
export type UnlockResult = 'unlocked' | 'failed' | 'dropped'

/** Gives back tasks that an engine has locked for nobody. */
export interface Unlocks {
  readonly give: (tasks: readonly LockedTask[]) => void
  /** When there is nothing left to give back. */
  readonly idle: () => Promise<void>
}

export interface LockedTask {
  readonly id: string
  /** Of the wall clock; NaN: not told. */
  readonly lockedUntilMs: number
}

export interface UnlocksOptions {
  readonly send: (upstreamRequest: UpstreamRequest) => Promise<Answer>
  readonly onUnlock: (result: UnlockResult) => void
  /** The wall clock, in which engines say how long a lock lasts. */
  readonly wallMs: () => number
}

const AT_ONCE = 8
const MAX_QUEUED = 10_000

export function createUnlocks({ send, onUnlock, wallMs }: UnlocksOptions): Unlocks {
  const queue: LockedTask[] = []
  let underWay = 0
  const whenIdle: (() => void)[] = []

  async function unlock({ id, lockedUntilMs }: LockedTask): Promise<void> {
    // Another worker may hold it by now: an engine unlocks whoever asks.
    if (lockedUntilMs <= wallMs()) return onUnlock('dropped')
    try {
      const { status } = await send(unlockRequest(id))
      onUnlock(status >= 200 && status < 300 ? 'unlocked' : 'failed')
    } catch {
      // Not repeated: it may have been done.
      onUnlock('failed')
    }
  }
  function next(): void {
    while (underWay < AT_ONCE) {
      const task = queue.shift()
      if (task === undefined) break
      underWay += 1
      void unlock(task).finally(() => {
        underWay -= 1
        next()
      })
    }
    if (underWay > 0) return
    for (const tell of whenIdle.splice(0)) tell()
  }
  return {
    give(tasks) {
      for (const task of tasks)
        if (queue.length < MAX_QUEUED) queue.push(task)
        else onUnlock('dropped')
      next()
    },
    idle: () => (underWay === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve))),
  }
}

function unlockRequest(id: string): UpstreamRequest {
  return {
    method: 'POST',
    path: `/external-task/${encodeURIComponent(id)}/unlock`,
    headers: { accept: 'application/json' },
    body: null,
    retry: 'unsent',
  }
}
