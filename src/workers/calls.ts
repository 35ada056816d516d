import type { SendHandle } from 'node:child_process'
import type { WorkerCall, MessageToWorker, WorkerResult } from './worker-messages.ts'

/** The error if no answer arrived in time, or if the other process has ended. */
export class CallError extends Error {}

/** The other process has ended, and all answers that it sent have been read. */
export class ProcessExitedError extends CallError {}

/** Calls to another process, each with a timeout. */
export interface WorkerCalls {
  /** Sends a message and resolves to the value of the answer, or to the socket that was sent with the answer. @throws CallError, or Error with the problem that the other side reports */
  readonly ask: (
    topic: WorkerCall['topic'],
    value: unknown,
    withinMs: number,
    socket?: SendHandle,
  ) => Promise<unknown>
  /** Settles the call that an answer belongs to. */
  readonly onResult: (answer: WorkerResult, socket?: unknown) => void
  /** Rejects all open calls with `ProcessExitedError`. Called when the other process has ended. */
  readonly end: () => void
}

interface PendingCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export function createCalls(send: (message: MessageToWorker, socket?: SendHandle) => void): WorkerCalls {
  const open = new Map<number, PendingCall>()
  let lastId = 0
  let hasEnded = false

  function settle(id: number, how: (call: PendingCall) => void): void {
    const call = open.get(id)
    open.delete(id)
    if (call !== undefined) how(call)
  }

  const ask: WorkerCalls['ask'] = (topic, value, withinMs, socket) => {
    if (hasEnded) return Promise.reject(new ProcessExitedError('has exited'))
    const id = (lastId += 1)
    const onTimeout = () =>
      settle(id, ({ reject }) => reject(new CallError(`did not respond within ${withinMs} ms`)))
    // This process itself may have been blocked. `setImmediate` handles messages that arrived in the meantime first.
    const timer = setTimeout(() => setImmediate(onTimeout), withinMs)
    const answer = new Promise<unknown>((resolve, reject) => open.set(id, { resolve, reject }))
    send({ type: 'ask', id, topic, value }, socket)
    return answer.finally(() => clearTimeout(timer))
  }

  return {
    ask,
    onResult: (answer, socket) =>
      settle(answer.id, ({ resolve, reject }) =>
        answer.type === 'answer' ? resolve(socket ?? answer.value) : reject(new Error(answer.problem)),
      ),
    end: () => {
      hasEnded = true
      for (const id of open.keys()) settle(id, ({ reject }) => reject(new ProcessExitedError('has exited')))
    },
  }
}
