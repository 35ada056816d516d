import type { WorkerAnswer, WorkerTopic, ToWorker } from './worker-messages.ts'

/** Nobody has answered in time, or nobody is there any more. */
export class NoAnswer extends Error {}

/** Questions to another process, each with a time. */
export interface Calls {
  /** @throws NoAnswer, or Error with what the other side says is wrong */
  readonly ask: (topic: WorkerTopic, value: unknown, withinMs: number) => Promise<unknown>
  readonly heard: (answer: WorkerAnswer) => void
  /** The other side is gone: no question is open any more. */
  readonly end: () => void
}

interface Open {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export function createCalls(send: (message: ToWorker) => void): Calls {
  const open = new Map<number, Open>()
  let asked = 0
  let isOver = false

  function settle(id: number, how: (call: Open) => void): void {
    const call = open.get(id)
    open.delete(id)
    if (call !== undefined) how(call)
  }

  function ask(topic: WorkerTopic, value: unknown, withinMs: number): Promise<unknown> {
    if (isOver) return Promise.reject(new NoAnswer('is gone'))
    const id = (asked += 1)
    const late = () =>
      settle(id, ({ reject }) => reject(new NoAnswer(`does not answer within ${withinMs} ms`)))
    // This process itself may have stood still: what has come meanwhile is heard first.
    const timer = setTimeout(() => setImmediate(late), withinMs)
    const answered = new Promise<unknown>((resolve, reject) => open.set(id, { resolve, reject }))
    send({ type: 'ask', id, topic, value })
    return answered.finally(() => clearTimeout(timer))
  }

  return {
    ask,
    heard: (answer) =>
      settle(answer.id, ({ resolve, reject }) =>
        answer.type === 'answer' ? resolve(answer.value) : reject(new Error(answer.problem)),
      ),
    end: () => {
      isOver = true
      for (const id of open.keys()) settle(id, ({ reject }) => reject(new NoAnswer('is gone')))
    },
  }
}
