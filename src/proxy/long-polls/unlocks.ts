import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { Answer } from '../../request/answer.ts'

/** `failed`: the engine did not unlock the task. `dropped`: too many at once, or the lock has expired. The lock then expires by itself. */
export type UnlockResult = 'unlocked' | 'failed' | 'dropped'

/** Unlocks tasks that an engine has locked for a client that is gone. */
export interface Unlocks {
  readonly unlock: (tasks: readonly LockedTask[]) => void
  /** Resolves when no task is left to unlock. */
  readonly idle: () => Promise<void>
}

export interface LockedTask {
  readonly id: string
  /** On the wall clock; NaN: unknown. */
  readonly lockedUntilMs: number
}

export interface UnlocksOptions {
  readonly send: (upstreamRequest: UpstreamRequest) => Promise<Answer>
  readonly onUnlock: (result: UnlockResult) => void
  /** The wall clock, on which engines report the end of a lock. */
  readonly wallMs: () => number
}

const MAX_CONCURRENT = 8
const MAX_QUEUED = 10_000

export function createUnlocks({ send, onUnlock, wallMs }: UnlocksOptions): Unlocks {
  const queue: LockedTask[] = []
  let inFlight = 0
  const whenIdle: (() => void)[] = []

  async function unlock({ id, lockedUntilMs }: LockedTask): Promise<void> {
    // Another worker may have locked it by now: an engine unlocks it for any caller.
    if (lockedUntilMs <= wallMs()) return onUnlock('dropped')
    try {
      const { status } = await send(unlockRequest(id))
      onUnlock(status >= 200 && status < 300 ? 'unlocked' : 'failed')
    } catch {
      // Not repeated: the engine may have done it.
      onUnlock('failed')
    }
  }
  function next(): void {
    while (inFlight < MAX_CONCURRENT) {
      const task = queue.shift()
      if (task === undefined) break
      inFlight += 1
      void unlock(task).finally(() => {
        inFlight -= 1
        next()
      })
    }
    if (inFlight > 0) return
    for (const resolve of whenIdle.splice(0)) resolve()
  }
  return {
    unlock(tasks) {
      for (const task of tasks)
        if (queue.length < MAX_QUEUED) queue.push(task)
        else onUnlock('dropped')
      next()
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve))),
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
