import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { bodyValue } from '../../request/body.ts'
import type { DateFormat } from '../../request/date-format.ts'
import { jsonIn } from '../../request/engine-request.ts'

/**
 * The result for one task. `failed`: the engine did not unlock the task. `dropped`: too many tasks waited, or the lock has expired.
 * A lock that is not removed expires by itself.
 */
export type UnlockResult = 'unlocked' | 'failed' | 'dropped'

/** Unlocks tasks that an engine has locked for a client that has disconnected. */
export interface Unlocks {
  readonly unlock: (tasks: readonly LockedTask[]) => void
  /** Resolves when no task is left to unlock. */
  readonly idle: () => Promise<void>
}

/** The members of a task that identify its lock, as the engine wrote them. */
export interface LockedTask {
  readonly id: string
  readonly workerId: unknown
  readonly lockExpirationTime: unknown
}

export interface UnlocksOptions {
  readonly send: (upstreamRequest: UpstreamRequest) => Promise<BufferedResponse>
  readonly onUnlock: (result: UnlockResult) => void
  readonly dateFormat: DateFormat
  /** The wall clock. Engines report the end of a lock in wall-clock time. */
  readonly wallMs: () => number
}

const MAX_CONCURRENT = 8
const MAX_QUEUED = 10_000

export function createUnlocks({ send, onUnlock, dateFormat, wallMs }: UnlocksOptions): Unlocks {
  const queue: LockedTask[] = []
  let inFlight = 0
  const whenIdle: (() => void)[] = []

  async function unlock(task: LockedTask): Promise<void> {
    const { id } = task
    try {
      // An engine unlocks a task for any caller. If the lock has expired, another worker may have locked the task, so it must stay locked.
      const lockedUntilMs = dateFormat.toMs(task.lockExpirationTime)
      const isExpired =
        lockedUntilMs === null
          ? // The date cannot be parsed. The lock is the same if the engine reports the same worker and the same text.
            !isSameLock(task, await send(taskRequest(id)))
          : lockedUntilMs <= wallMs()
      if (isExpired) return onUnlock('dropped')
      const { status } = await send(unlockRequest(id))
      onUnlock(status >= 200 && status < 300 ? 'unlocked' : 'failed')
    } catch {
      // The request is not retried, because the engine may have unlocked the task.
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

function isSameLock(
  { workerId, lockExpirationTime }: LockedTask,
  { status, body }: BufferedResponse,
): boolean {
  if (status !== 200) return false
  const task = jsonIn(body)
  return (
    typeof lockExpirationTime === 'string' &&
    bodyValue(task, 'lockExpirationTime') === lockExpirationTime &&
    bodyValue(task, 'workerId') === workerId
  )
}

function taskRequest(id: string): UpstreamRequest {
  return {
    method: 'GET',
    path: `/external-task/${encodeURIComponent(id)}`,
    headers: { accept: 'application/json' },
    body: null,
    retry: 'always',
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
