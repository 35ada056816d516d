import type { BufferedResponse } from '../../request/buffered-response.ts'
import { jsonValueOf } from '../../request/value.ts'
import type { LockedTask } from './unlocks.ts'

/** The response of an engine that found no task to lock. */
export const NO_TASKS: BufferedResponse = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('[]'),
}

/** The reason why an engine ended a poll without locking a task. */
export type PollRefusal = 'full' | 'stopping'

// The messages of FetchAndLockHandlerImpl, which are the same in all forks. Both are a 500 with no other distinguishing feature.
const REFUSALS: readonly (readonly [RegExp, PollRefusal])[] = [
  [/"At the moment the server has to handle too many requests at the same time\b/, 'full'],
  [/"Request rejected due to shutdown of application server\b/, 'stopping'],
]
const LONGEST_REFUSAL_BYTES = 4096

/** Returns the reason for which the engine refused the poll, or null if the response is a regular one. */
export function pollRefusalOf({ status, body }: BufferedResponse): PollRefusal | null {
  if (status !== 500 || body.length > LONGEST_REFUSAL_BYTES) return null
  const text = body.toString('utf8')
  return REFUSALS.find(([pattern]) => pattern.test(text))?.[1] ?? null
}

export function isEmptyList({ status, body }: BufferedResponse): boolean {
  return status === 200 && body.length <= 16 && body.toString('latin1').replace(/\s/g, '') === '[]'
}

/** Returns the tasks that are locked according to a response. Returns an empty list if the response is not a list of tasks. */
export function lockedTasksIn({ status, body }: BufferedResponse): readonly LockedTask[] {
  const tasks = status === 200 ? jsonValueOf(body) : undefined
  return Array.isArray(tasks) ? tasks.flatMap(lockedTaskOf) : []
}

function lockedTaskOf(task: unknown): readonly LockedTask[] {
  if (typeof task !== 'object' || task === null || !('id' in task) || typeof task.id !== 'string') return []
  const { id } = task
  const workerId = 'workerId' in task ? task.workerId : null
  const lockExpirationTime = 'lockExpirationTime' in task ? task.lockExpirationTime : null
  return [{ id, workerId, lockExpirationTime }]
}
